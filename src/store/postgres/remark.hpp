#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace pawl::postgres {

// What an operator should know of the database, though no request fails for it. The store has no
// log: whoever opens it has.
struct Remark {
    std::string_view event;  // Its name in the log.
    std::string_view code;   // Its page in docs/errors.
    std::string detail;      // What was found, and what to do.
};
using OnRemark = std::function<void(const Remark&)>;  // From any thread of the store; quick.

}  // namespace pawl::postgres
