#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace pawl::base {

// What an operator should know of the database or the queue, although nothing fails. The opener of
// either logs it, as they have no log.
struct Warning {
    std::string_view event;  // The log event.
    std::string_view code;   // Its page in docs/errors; empty: none.
    std::string detail;      // What was found, and what to do.
};
using OnWarning = std::function<void(const Warning&)>;  // From any thread; quick.

}  // namespace pawl::base
