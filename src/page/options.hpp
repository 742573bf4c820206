#pragma once

#include <string>
#include <vector>

namespace pawl::page {

struct PageOptions {
    std::string operators_file{};  // operators.hpp has its form; readable by its owner only.
    // The header in which a proxy names the operator that it has authenticated, such as
    // X-Forwarded-User; empty: none.
    std::string user_header{};
    std::vector<std::string> proxies{};  // From these alone; http::TrustedProxies.
};

}  // namespace pawl::page
