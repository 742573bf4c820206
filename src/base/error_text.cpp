#include "src/base/error_text.hpp"

#include "src/base/text.hpp"
#include "src/base/time_text.hpp"
#include "src/core/ascii.hpp"

#include <algorithm>
#include <cctype>

namespace pawl::base {

namespace {

constexpr std::size_t error_max = 2'000;
constexpr std::size_t kind_max = 120;
constexpr std::string_view quotes = "'\"`";

// Bytes above ASCII belong to words.
bool is_word_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ||
           static_cast<unsigned char>(c) >= 0x80;
}

bool is_status(std::string_view word) {
    return word.size() == 3 && core::are_digits(word) && word[0] >= '1' && word[0] <= '5';
}

std::string_view first_line(std::string_view text) {
    return text.substr(0, text.find_first_of("\r\n"));
}

// The end of the quoted text that begins at `at`; `at` itself for an apostrophe or without an end.
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
    if (at > 0 && is_word_character(text[at - 1])) return at;
    const auto end = text.find(text[at], at + 1);
    return end == text.npos ? at : end + 1;
}

constexpr std::string_view earlier = "an earlier call may have been made at ";

}  // namespace

std::string with_reason(std::string text, std::string_view why) {
    if (!why.empty()) text.append(": ").append(why);
    return text;
}

std::string with_earlier_call(std::string error, std::optional<TimePoint> earlier_call) {
    if (!earlier_call || error.starts_with(earlier)) return error;
    auto text = std::string{earlier} + time_text(*earlier_call);
    return error.empty() ? text : text + "; " + error;
}

std::string sanitized_error(std::string_view error) {
    std::string text;
    while (!error.empty() && text.size() <= error_max) {
        const auto length = error.front() == '\0' ? 0 : character_length(error);
        text += length == 0 ? std::string_view{"?"} : error.substr(0, length);
        error.remove_prefix(length == 0 ? 1 : length);
    }
    return std::string{cut(text, error_max)};
}

std::string error_kind(std::string_view error) {
    const auto line = first_line(error);
    std::string kind;
    for (std::size_t at = 0; at < line.size();) {
        if (quotes.find(line[at]) != quotes.npos) {
            if (const auto past = end_of_quoted(line, at); past > at) {
                kind += "\"?\"";
                at = past;
                continue;
            }
        }
        if (!is_word_character(line[at])) {
            kind += line[at++];
            continue;
        }
        const auto begin = line.begin() + static_cast<std::ptrdiff_t>(at);
        const auto end = std::find_if_not(begin, line.end(), is_word_character);
        const std::string_view word{begin, end};
        const bool varies = std::any_of(begin, end, core::is_digit) && !is_status(word);
        kind += varies ? std::string_view{"#"} : word;
        at += word.size();
    }
    return std::string{cut(kind, kind_max)};
}

}  // namespace pawl::base
