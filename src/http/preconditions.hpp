#pragma once

#include <pawl/request_head.hpp>

#include "src/http/listener.hpp"

#include <optional>

namespace pawl::http {

// 412 for a request that would change something under a condition (RFC 9110, 13.1): operations do
// not see conditions, and ignoring them could overwrite what the client protects. nullopt: the
// request has no condition.
std::optional<Reply> refuse_preconditions(const RequestHead& head);

}  // namespace pawl::http
