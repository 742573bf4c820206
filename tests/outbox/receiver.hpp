#pragma once

#include "src/http/testing/raw_server.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace pawl::testing {

inline std::string key_in(const std::string& request) {
    constexpr std::string_view name = "\r\nIdempotency-Key: ";
    const auto at = request.find(name);
    if (at == request.npos) return {};
    const auto from = at + name.size();
    return request.substr(from, request.find("\r\n", from) - from);
}

// Answers 201, or first as told; counts the requests of each key.
class Receiver {
public:
    std::string url() const { return server_.url() + "/orders"; }
    std::map<std::string, int> asked() const {
        const std::lock_guard lock{mutex_};
        return asked_;
    }
    void say_first(std::deque<int> statuses) {
        const std::lock_guard lock{mutex_};
        first_ = std::move(statuses);
    }

private:
    void serve(http::testing::RawSocket& socket) {
        while (true) {
            const auto request = socket.read_message();
            if (request.empty()) return;
            int status = 201;
            bool replayed = false;
            {
                const std::lock_guard lock{mutex_};
                if (!first_.empty()) {
                    status = first_.front();
                    first_.pop_front();
                }
                replayed = ++asked_[key_in(request)] > 1 && status == 201;
            }
            if (status == 0) return socket.reset();
            socket.send(
                "HTTP/1.1 " + std::to_string(status) + " X\r\n" +
                (replayed ? "Idempotent-Replayed: true\r\n" : "") + "Content-Length: 0\r\n\r\n"
            );
        }
    }

    mutable std::mutex mutex_;
    std::map<std::string, int> asked_;
    std::deque<int> first_;
    http::testing::RawServer server_{
        [this](http::testing::RawServer&, http::testing::RawSocket& socket) { serve(socket); }};
};

}  // namespace pawl::testing
