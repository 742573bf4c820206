#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace pawl::base {

// What an operator should know of the database or the queue, though nothing fails for it. Neither
// has a log: whoever opens it has.
struct Remark {
    std::string_view event;  // Its name in the log.
    std::string_view code;   // Its page in docs/errors; empty if it has none.
    std::string detail;      // What was found, and what to do.
};
using OnRemark = std::function<void(const Remark&)>;  // From any thread; quick.

}  // namespace pawl::base
