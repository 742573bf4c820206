#pragma once

#include "src/engine/observer.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace pawl::http {

// One line of JSON per request: who, what, the status, how long. Never a query, a key, a token or a
// body. Reports each request to the observer, too.
class AccessLog {
public:
    explicit AccessLog(const std::string& file
    );  // "-" is standard error; empty: no log. Throws std::runtime_error.
    ~AccessLog();

    struct Entry {
        std::string_view client;
        std::string_view method;
        std::string_view route;  // The pattern: a path may hold private data.
        int status{};
        std::size_t bytes{};
        std::chrono::microseconds took{};
        bool replayed{};
        std::string_view over_quota{};  // 429: the limit, "in_flight" or "rate".
        std::string_view request_id{};
        std::string_view trace_id{};
        std::string_view tenant{};
        std::string_view account{};
        std::string_view operation{};
        std::string_view key_hash{};  // The first 16 digits.
        std::string_view problem{};   // The type of an error: "in-progress".
    };
    void write(const Entry& entry);
    // Before any request; nullptr: none.
    void observe(engine::Observer* by) { observer_ = by; }
    void flush();
    void reopen(
    );  // Opens a new file under the same name; if that fails, it goes on in the old file.
    bool on() const { return impl_ != nullptr || observer_ != nullptr; }

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
    engine::Observer* observer_{};
};

}  // namespace pawl::http
