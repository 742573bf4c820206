#pragma once

#include "src/base/remark.hpp"

#include <chrono>
#include <optional>
#include <string_view>

namespace pawl::postgres {

// When to say that a store has fewer connections than it asks for: once their number has stood for
// a second, and again when another one has. At a start and at a restart of the database it changes
// with every connection that comes; none at all is another trouble, which requests are told.
// For several threads under a lock of their owner.
class Shortfall {
public:
    using Moment = std::chrono::steady_clock::time_point;
    explicit Shortfall(int wanted) : wanted_{wanted} {}

    // A connection was refused while the store had so many.
    std::optional<base::Remark> refused(int connected, std::string_view why, Moment now);
    // One came, and with it they are so many.
    std::optional<base::Remark> opened(int connected);

private:
    const int wanted_;
    static constexpr int none_yet = -1;
    int counted_{none_yet};  // At the last refusals, with no connection that came in between,
    Moment since_{};         // and since when.
    int remarked_on_{0};     // What was said last; 0: nothing, or that all are there.
};

}  // namespace pawl::postgres
