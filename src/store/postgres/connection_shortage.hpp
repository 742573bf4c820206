#pragma once

#include "src/base/warning.hpp"

#include <chrono>
#include <optional>
#include <string_view>

namespace pawl::postgres {

// When to report that a store has fewer connections than configured: once the number has been
// stable for a second, and again when it changes. While the database starts the number changes all
// the time; no connection at all is reported to requests instead. Not thread-safe: the owner locks.
class ConnectionShortage {
public:
    using Moment = std::chrono::steady_clock::time_point;
    explicit ConnectionShortage(int wanted) : wanted_{wanted} {}

    // A connection was refused while the store had `connected`.
    std::optional<base::Warning> refused(int connected, std::string_view why, Moment now);
    // A connection was opened; the store now has `connected`.
    std::optional<base::Warning> opened(int connected);

private:
    const int wanted_;
    static constexpr int none_yet = -1;
    int counted_{none_yet};  // At the last refusals, with no connection opened in between,
    Moment since_{};         // and since when.
    int reported_{0};        // The number last reported; 0: none, or all are there.
};

}  // namespace pawl::postgres
