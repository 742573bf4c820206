#pragma once

#include "src/http/listener.hpp"
#include "src/http/testing/raw_socket.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pawl::http::testing {

// Requests to a Listening, and parts of its responses.
namespace requests {

inline const std::string get_echo = "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n";

inline std::string post(const std::string& path, const std::string& body) {
    return "POST " + path +
           " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
}

inline std::string status_of(const std::string& answer) {
    return answer.size() > 12 ? answer.substr(9, 3) : "none: " + answer;
}
inline std::string body_of(const std::string& answer) {
    return answer.substr(std::min(answer.find("\r\n\r\n"), answer.size() - 4) + 4);
}

}  // namespace requests

// For tests: a listener that echoes requests. /echo answers "METHOD path body"; the test answers
// /later; /large answers 8 MiB; /forbidden is refused at its head; /drop destroys its Responder.
class Listening {
public:
    explicit Listening(ListenerOptions options = {})
        : listener_{on_any_port(std::move(options)), handlers()} {
        listener_.start();
    }

    Listener& listener() { return listener_; }
    RawSocket connect() { return RawSocket::to(listener_.port()); }

    // The whole response to these bytes, up to the end of the connection; the client closes its
    // half first.
    std::string ask(const std::string& bytes) {
        auto client = connect();
        client.send(bytes);
        client.half_close();
        return client.read_all();
    }

    // Waits for the next request to /later.
    std::optional<Responder> take_later() {
        std::unique_lock lock{mutex_};
        if (!came_.wait_for(lock, std::chrono::seconds{10}, [this] { return !later_.empty(); }))
            return std::nullopt;
        auto taken = std::move(later_.front());
        later_.erase(later_.begin());
        return taken;
    }
    int requests() {
        const std::lock_guard lock{mutex_};
        return requests_;
    }

    static constexpr std::size_t large = 8 * 1024 * 1024;

private:
    static ListenerOptions on_any_port(ListenerOptions options) {
        if (options.listen == ListenerOptions{}.listen) options.listen = "127.0.0.1:0";
        options.threads = 2;  // Two threads stand for any larger number.
        return options;
    }

    Listener::Handlers handlers() {
        return {
            .on_head = [this](const RequestHead& head) -> Listener::Decision {
                if (head.path == "/forbidden") return Reply{.status = 403, .body = "no"};
                return Listener::Accepted{[this](Request request, Responder respond) {
                    on_request(std::move(request), std::move(respond));
                }};
            },
            .on_error =
                [](int status, std::string_view why, const RequestHead&) {
                    return Reply{.status = status, .body = std::string{why}};
                },
            .date = [] { return std::string{"Sun, 06 Nov 1994 08:49:37 GMT"}; }};
    }

    void on_request(Request request, Responder respond) {
        const std::lock_guard lock{mutex_};
        ++requests_;
        const auto& path = request.head.path;
        if (path == "/drop") return;
        if (path == "/large") return respond(Reply{.body = std::string(large, 'x')});
        if (path == "/empty") return respond(Reply{.status = 204});
        if (path == "/later") {
            later_.push_back(std::move(respond));
            return came_.notify_all();
        }
        respond(Reply{
            .headers = {{"X-Host", std::string{request.head.header("Host").value_or("")}}},
            .body = request.head.method + " " + path + " " + request.body});
    }

    std::mutex mutex_;
    std::condition_variable came_;
    std::vector<Responder> later_;
    int requests_{0};
    Listener listener_;  // Last member: its thread uses those above.
};

}  // namespace pawl::http::testing
