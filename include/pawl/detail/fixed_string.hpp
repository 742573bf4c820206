#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace pawl::detail {

// A text as a template argument.
template <std::size_t N>
struct FixedString {
    std::array<char, N> text{};
    // NOLINTNEXTLINE(*-avoid-c-arrays): a literal's type.
    consteval FixedString(const char (&s)[N]) { std::copy_n(s, N, text.begin()); }
    constexpr std::string_view view() const { return {text.data(), N - 1}; }
};

}  // namespace pawl::detail
