#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

// ASCII only, in every locale: names of headers, schemes and hosts (RFC 9110, 5.1).
namespace pawl::core {

constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

constexpr bool are_digits(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c); });
}

constexpr char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string lower_text(std::string_view text) {
    std::string out{text};
    std::transform(out.begin(), out.end(), out.begin(), lower);
    return out;
}

constexpr bool same_without_case(std::string_view a, std::string_view b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
        return lower(x) == lower(y);
    });
}

// Without spaces and tabs at both ends.
constexpr std::string_view trimmed(std::string_view text) noexcept {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    return text.substr(0, text.find_last_not_of(" \t") + 1);
}

inline std::vector<std::string_view> words_of(
    std::string_view text, std::string_view blanks = " \t"
) {
    std::vector<std::string_view> words;
    for (std::size_t at = 0; (at = text.find_first_not_of(blanks, at)) != text.npos;) {
        const auto end = std::min(text.find_first_of(blanks, at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end;
    }
    return words;
}

// Whether `words`, with a space between each two, has this one.
constexpr bool has_word(std::string_view words, std::string_view word) noexcept {
    while (!words.empty()) {
        const auto end = std::min(words.find(' '), words.size());
        if (words.substr(0, end) == word) return true;
        words.remove_prefix(std::min(end + 1, words.size()));
    }
    return false;
}

}  // namespace pawl::core
