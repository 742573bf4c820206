#include "src/json/surrogates.hpp"

#include <charconv>
#include <cstddef>

namespace pawl::json {

namespace {

constexpr std::size_t escape_size = 6;  // Of \ud83d.

// The value of the escape \uXXXX at `at`; 0 for anything else.
unsigned escaped(std::string_view text, std::size_t at) {
    if (at + escape_size > text.size() || text.substr(at, 2) != "\\u") return 0;
    unsigned value = 0;
    const auto* const end = text.data() + at + escape_size;
    return std::from_chars(text.data() + at + 2, end, value, 16).ptr == end ? value : 0;
}

bool is_half(unsigned value, unsigned first) {
    constexpr unsigned halves = 0x400;
    return value >= first && value < first + halves;
}

}  // namespace

std::string_view replace_lone_surrogates(std::string_view text, std::string& replaced) {
    replaced.clear();
    for (auto at = text.find('\\'); at < text.size(); at = text.find('\\', at)) {
        const auto value = escaped(text, at);
        const bool high = is_half(value, 0xd800);
        if (high && is_half(escaped(text, at + escape_size), 0xdc00)) {
            at += 2 * escape_size;
        } else if (high || is_half(value, 0xdc00)) {
            if (replaced.empty()) replaced = text;
            replaced.replace(at, escape_size, "\\ufffd");
            at += escape_size;
        } else {
            at += 2;
        }
    }
    return replaced.empty() ? text : replaced;
}

}  // namespace pawl::json
