#include <pawl/request_head.hpp>

#include <algorithm>

namespace pawl {

namespace {

bool same_name(std::string_view a, std::string_view b) {
    auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [&](char x, char y) {
               return lower(x) == lower(y);
           });
}

}  // namespace

std::optional<std::string_view> RequestHead::header(std::string_view name) const {
    std::optional<std::string_view> found;
    for (const auto& header : headers) {
        if (!same_name(header.name, name)) continue;
        if (found) return std::nullopt;
        found = header.value;
    }
    return found;
}

int RequestHead::count(std::string_view name) const {
    return static_cast<int>(std::count_if(
        headers.begin(),
        headers.end(),
        [&](const Header& header) { return same_name(header.name, name); }
    ));
}

}  // namespace pawl
