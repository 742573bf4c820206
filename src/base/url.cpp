#include "src/base/url.hpp"

#include <algorithm>

namespace pawl::base {

std::size_t parameters_at(std::string_view url) {
    const auto from = url.find("://");
    if (from == url.npos) return std::min(url.find('?'), url.size());
    const auto end = url.find_first_of("@/", from + 3);
    const bool has_user = end != url.npos && url[end] == '@';
    return std::min(url.find('?', has_user ? end : from), url.size());
}

namespace {

// Masks each value after a '?' or '&' whose name ends in "password".
std::string without_password_parameters(std::string_view text) {
    constexpr std::string_view secret = "password";
    std::string shown;
    while (!text.empty()) {
        const auto one = text.substr(0, text.find_first_of("?&", 1));
        text.remove_prefix(one.size());
        const bool is_parameter = one.front() == '?' || one.front() == '&';
        const auto name = one.substr(0, one.find('='));
        if (is_parameter && name.size() < one.size() && name.ends_with(secret))
            shown.append(name).append("=***");
        else
            shown.append(one);
    }
    return shown;
}

}  // namespace

// For a malformed URL, rather show too little than a password.
std::string without_password(const std::string& url) {
    if (url.starts_with("sqlite:")) return url;
    auto shown = without_password_parameters(url);
    const auto scheme = shown.find("://");
    const auto before = shown.rfind('@', parameters_at(shown));
    const auto at = before != shown.npos ? before : shown.rfind('@');
    if (scheme == shown.npos) {
        if (at != shown.npos) return "***" + shown.substr(at);
        const auto equals = shown.find('=');  // "host=h password=secret".
        return equals == shown.npos ? shown : shown.substr(0, equals) + "=***";
    }
    if (at != shown.npos)
        if (const auto colon = shown.find(':', scheme + 3); colon < at)
            shown.replace(colon, at - colon, ":***");
    return shown;
}

}  // namespace pawl::base
