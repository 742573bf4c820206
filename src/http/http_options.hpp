#pragma once

#include <pawl/http.hpp>

#include "src/core/quota.hpp"

namespace pawl::http {

// Returns the options unchanged; throws std::invalid_argument if they have a problem().
HttpOptions checked(HttpOptions options);

// `options` must have been checked.
core::QuotaRule quota_rule(const HttpOptions& options, int calls_max);

}  // namespace pawl::http
