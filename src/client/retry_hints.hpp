#pragma once

#include <pawl/detail/session.hpp>

#include "src/core/client_retry.hpp"
#include "src/http/transfer.hpp"

namespace pawl::client {

// How a try ended, with the server's retry hints: Retry-After in seconds or as a date (RFC 9110,
// 10.2.3), Stripe-Should-Retry, `retry` of our problems (docs/http.md), Idempotent-Replayed.
core::TryEnd end_of(const http::Sent& sent, TimePoint now);

}  // namespace pawl::client
