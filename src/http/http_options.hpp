#pragma once

#include <pawl/http.hpp>

#include "src/base/warning.hpp"
#include "src/core/quota.hpp"
#include "src/http/listener.hpp"

namespace pawl::http {

// In the following, `options` must have been checked.

// connections_max is lowered if the process may not have so many (PAWL0014).
ListenerOptions listener_options(
    const HttpOptions& options, int calls_max, const base::OnWarning& on_warning
);

core::QuotaRule quota_rule(const HttpOptions& options, int calls_max);

}  // namespace pawl::http
