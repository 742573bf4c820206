#pragma once

#include <pawl/request_head.hpp>

#include "src/http/listener.hpp"

#include <optional>

namespace pawl::http {

// 412 for a request to change something under a condition (RFC 9110, 13.1): no operation sees the
// conditions, and carrying it out without a look at them could overwrite what the client protects.
// nullopt: it has none.
std::optional<Reply> refuse_conditions(const RequestHead& head);

}  // namespace pawl::http
