#pragma once

#include <pawl/detail/fixed_string.hpp>

#include <optional>
#include <string>

namespace pawl {

// A field of a request that is read from a header of this name, and from nowhere else. Empty: the
// client has not sent it, or not as UTF-8. It is stored with the request, so each step sees it,
// also after a restart. It is not part of what makes two requests the same: a repeat with another
// value is a repeat, and the steps see the first one's.
//
//   struct TransferRequest {
//       std::int64_t cents{};
//       pawl::FromHeader<"traceparent"> trace{};
//   };
//
// Service::run() takes it as it is, and there it is part of what makes two requests the same.
template <detail::FixedString Name>
struct FromHeader {
    std::optional<std::string> value{};
};

}  // namespace pawl
