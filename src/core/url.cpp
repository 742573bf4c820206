#include "src/core/url.hpp"

#include <algorithm>
#include <string_view>

namespace pawl::core {

std::size_t parameters_at(std::string_view url) {
    const auto from = url.find("://");
    if (from == url.npos) return std::min(url.find('?'), url.size());
    const auto end = url.find_first_of("@/", from + 3);
    const bool has_user = end != url.npos && url[end] == '@';
    return std::min(url.find('?', has_user ? end : from), url.size());
}

std::string without_password(const std::string& url) {
    const auto from = url.find("://");
    if (from == url.npos) {  // "host=h password=secret": nothing in it is known to be none.
        const auto equals = url.find('=');
        return equals == url.npos ? url : url.substr(0, equals) + "=***";
    }
    const auto mark = parameters_at(url);
    auto shown = url.substr(0, mark);
    // To the last @: of a URL that nobody can read a piece too much, rather than of a password.
    if (const auto at = shown.rfind('@'); at != shown.npos && at > from)
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
