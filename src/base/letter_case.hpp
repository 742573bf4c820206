#pragma once

#include <algorithm>
#include <string_view>

// ASCII only, in every locale: names of headers, schemes and hosts (RFC 9110, 5.1).
namespace pawl::base {

constexpr char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr bool same_without_case(std::string_view a, std::string_view b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
        return lower(x) == lower(y);
    });
}

}  // namespace pawl::base
