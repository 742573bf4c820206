#include "src/base/text.hpp"

#include <algorithm>

namespace pawl::base {

namespace {

constexpr std::size_t excerpt_max = 40;

unsigned char byte(char c) {
    return static_cast<unsigned char>(c);
}
bool continues(char c) {
    return (byte(c) & 0xC0) == 0x80;
}

bool needs_escape(char c) {
    return byte(c) < 0x20 || c == '"' || c == '\\';
}

void append_escape(std::string& out, char c) {
    constexpr std::string_view plain = "\"\\\b\f\n\r\t";
    constexpr std::string_view letter = "\"\\bfnrt";
    constexpr std::string_view digit = "0123456789abcdef";
    out.push_back('\\');
    if (auto at = plain.find(c); at != plain.npos) {
        out.push_back(letter[at]);
    } else {
        out.append("u00");
        out.push_back(digit[byte(c) >> 4U]);
        out.push_back(digit[byte(c) & 0xFU]);
    }
}

// The lead bytes 0xEE and 0xEF (U+E000 to U+FFFF) sort after 0xF4, the last lead byte of surrogate
// pairs in UTF-16.
int utf16_weight(char c) {
    int value = byte(c);
    return value == 0xEE || value == 0xEF ? value + 0x10 : value;
}

}  // namespace

// Unicode 15, table 3-7.
std::size_t character_length(std::string_view text) {
    if (text.empty()) return 0;
    auto first = byte(text[0]);
    if (first < 0x80) return 1;
    std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if (!continues(text[i])) return 0;
    auto second = byte(text[1]);
    bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
    bool surrogate = first == 0xED && second > 0x9F;
    bool beyond = first == 0xF4 && second > 0x8F;
    return overlong || surrogate || beyond ? 0 : length;
}

bool is_utf8(std::string_view text) {
    while (true) {
        while (!text.empty() && byte(text.front()) < 0x80) text.remove_prefix(1);
        if (text.empty()) return true;
        auto length = character_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
}

void append_string(std::string& out, std::string_view utf8) {
    out.push_back('"');
    while (!utf8.empty()) {
        const auto* const stop = std::find_if(utf8.begin(), utf8.end(), [](char c) {
            return needs_escape(c);  // A lambda is inlined; the function's address is not.
        });
        auto plain = static_cast<std::size_t>(stop - utf8.begin());
        out.append(utf8.substr(0, plain));
        utf8.remove_prefix(plain);
        if (utf8.empty()) break;
        append_escape(out, utf8.front());
        utf8.remove_prefix(1);
    }
    out.push_back('"');
}

std::string_view cut(std::string_view utf8, std::size_t bytes_max) {
    if (utf8.size() <= bytes_max) return utf8;
    auto end = bytes_max;
    while (end > 0 && continues(utf8[end])) --end;
    return utf8.substr(0, end);
}

std::string excerpt(std::string_view utf8) {
    if (utf8.size() <= excerpt_max) return std::string{utf8};
    return std::string{cut(utf8, excerpt_max - 3)}.append("...");
}

bool utf16_less(std::string_view a, std::string_view b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
        return utf16_weight(x) < utf16_weight(y);
    });
}

}  // namespace pawl::base
