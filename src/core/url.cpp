#include "src/core/url.hpp"

#include <algorithm>
#include <string_view>

namespace pawl::core {

std::string without_password(const std::string& url) {
    const auto mark = std::min(url.find('?'), url.size());
    auto shown = url.substr(0, mark);
    const auto from = shown.find("://");
    const auto at = shown.find('@');
    if (from != url.npos && at != url.npos)
        if (const auto colon = shown.find(':', from + 3); colon < at)
            shown.replace(colon, at - colon, ":***");
    std::string_view rest = std::string_view{url}.substr(mark);
    while (!rest.empty()) {  // Each parameter behind its ? or &.
        const auto one = rest.substr(0, rest.find('&', 1));
        rest.remove_prefix(one.size());
        const auto name = one.substr(1, one.find('=') - 1);
        if (name == "password" || name == "sslpassword")
            shown.append(one.substr(0, 1 + name.size())).append("=***");
        else
            shown.append(one);
    }
    return shown;
}

}  // namespace pawl::core
