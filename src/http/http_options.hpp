#pragma once

#include <pawl/http.hpp>

#include "src/core/quota.hpp"

namespace pawl::http {

// As they are; throws std::invalid_argument if they have a problem().
HttpOptions checked(HttpOptions options);

// Of options that were checked.
core::QuotaRule quota_rule(const HttpOptions& options, int calls_max);

}  // namespace pawl::http
