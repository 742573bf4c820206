#include <pawl/bearer_token.hpp>
#include <pawl/request_head.hpp>

#include "src/core/ascii.hpp"

#include <algorithm>

namespace pawl {

std::optional<std::string_view> RequestHead::header(std::string_view name) const {
    std::optional<std::string_view> found;
    for (const auto& header : headers) {
        if (!core::same_without_case(header.name, name)) continue;
        if (found) return std::nullopt;
        found = header.value;
    }
    return found;
}

int RequestHead::count(std::string_view name) const {
    return static_cast<int>(std::count_if(
        headers.begin(),
        headers.end(),
        [&](const Header& header) { return core::same_without_case(header.name, name); }
    ));
}

std::optional<std::string_view> bearer_token(const RequestHead& head) {
    constexpr std::string_view scheme = "bearer";
    const auto given = head.header("Authorization");
    if (!given || !core::same_without_case(given->substr(0, scheme.size()), scheme))
        return std::nullopt;
    const auto rest = given->substr(scheme.size());
    const auto token = rest.find_first_not_of(' ');
    if (token == 0 || token == rest.npos) return std::nullopt;
    return rest.substr(token);
}

}  // namespace pawl
