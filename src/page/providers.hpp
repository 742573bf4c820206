#pragma once

#include "src/page/asked.hpp"
#include "src/page/html.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace pawl::page {

// The last error of some unsettled requests, with the provider that it came from.
struct ProviderError {
    std::string provider;
    std::string error;
    std::int64_t count{};
    std::string last_at;
    std::int64_t key_id{};  // One of these requests.
};
// Errors of one provider with one cause, as `dlq list --by-error` groups them: by provider, the
// most frequent first.
std::vector<ProviderError> grouped(const std::vector<ProviderError>& errors);

// {"providers": as `providers` prints them, "errors": in groups}
boost::json::value read_providers(const Asked& asked);
Html show_providers(const Asked& asked, const boost::json::value& data);

}  // namespace pawl::page
