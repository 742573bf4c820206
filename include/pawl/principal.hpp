#pragma once

#include <string>

namespace pawl {

// Who sends the request. Keys are looked up by (tenant, account, key), never by the credential: a
// new token is the same account.
struct Principal {
    std::string tenant;
    std::string account;
};

}  // namespace pawl
