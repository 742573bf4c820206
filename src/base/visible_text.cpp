#include "src/base/visible_text.hpp"

#include "src/base/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace pawl {

namespace base {

namespace {

// Whether more bytes can make it one character.
bool is_unfinished(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text.front());
    if (lead < 0xC2 || lead > 0xF4) return false;
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    return text.size() < length && std::all_of(text.begin() + 1, text.end(), [](char c) {
               return (static_cast<unsigned char>(c) & 0xC0U) == 0x80;
           });
}

bool is_plain(char c) {
    return (c >= ' ' && c < '\x7f') || c == '\n' || c == '\t';
}

std::uint32_t code_point(std::string_view character) {
    const auto lead = static_cast<unsigned char>(character.front());
    if (character.size() == 1) return lead;
    std::uint32_t code = lead & (0xFFU >> (character.size() + 1));
    for (const char c : character.substr(1))
        code = code << 6U | (static_cast<unsigned char>(c) & 0x3FU);
    return code;
}

bool is_obeyed(std::uint32_t code) {
    constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 6> ranges{
        {{0x00, 0x1F},
         {0x7F, 0x9F},
         {0x61C, 0x61C},
         {0x200E, 0x200F},
         {0x2028, 0x202E},
         {0x2066, 0x2069}}};
    return std::ranges::any_of(ranges, [code](const auto& range) {
        return code >= range.first && code <= range.second;
    });
}

void append_escape(std::string& out, std::uint32_t code) {
    constexpr std::string_view digits = "0123456789abcdef";
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4)
        out += digits[code >> static_cast<unsigned>(shift) & 0xFU];
}

// Appends the whole characters of `text`; returns the bytes that may begin one.
std::string_view append_visible(std::string& out, std::string_view text) {
    constexpr std::string_view replacement = "\xEF\xBF\xBD";
    while (!text.empty()) {
        const auto plain = static_cast<std::size_t>(
            std::find_if_not(text.begin(), text.end(), is_plain) - text.begin()
        );
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty()) break;
        if (text == "\r") return text;
        if (text.starts_with("\r\n")) {
            out += "\r\n";
            text.remove_prefix(2);
            continue;
        }
        const auto length = character_length(text);
        if (length == 0) {
            if (is_unfinished(text)) return text;
            out += replacement;
            text.remove_prefix(1);
            continue;
        }
        const auto character = text.substr(0, length);
        if (const auto code = code_point(character); is_obeyed(code))
            append_escape(out, code);
        else
            out += character;
        text.remove_prefix(length);
    }
    return {};
}

}  // namespace

VisibleOutput::~VisibleOutput() {
    const auto rest = visible_text(std::exchange(left_, {}));
    to_.sputn(rest.data(), static_cast<std::streamsize>(rest.size()));
}

bool VisibleOutput::write(std::string_view text) {
    std::string all = std::exchange(left_, {});
    std::string visible;
    if (!all.empty()) text = all.append(text);
    left_ = append_visible(visible, text);
    return to_.sputn(visible.data(), static_cast<std::streamsize>(visible.size())) ==
           static_cast<std::streamsize>(visible.size());
}

VisibleOutput::int_type VisibleOutput::overflow(int_type c) {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char one = traits_type::to_char_type(c);
    return write({&one, 1}) ? c : traits_type::eof();
}

std::streamsize VisibleOutput::xsputn(const char* text, std::streamsize size) {
    return write({text, static_cast<std::size_t>(size)}) ? size : 0;
}

int VisibleOutput::sync() {
    return to_.pubsync();
}

}  // namespace base

std::string visible_text(std::string text) {
    if (std::ranges::all_of(text, base::is_plain)) return text;
    std::string visible;
    auto left = base::append_visible(visible, text);
    for (; !left.empty(); left.remove_prefix(1))
        visible += left.front() == '\r' ? "\\u000d" : "\xEF\xBF\xBD";
    return visible;
}

}  // namespace pawl
