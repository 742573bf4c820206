#include "src/bank/field_check.hpp"

#include "src/base/text.hpp"
#include "src/base/time_text.hpp"

#include <algorithm>
#include <stdexcept>

namespace pawl::bank {

namespace {

void check_length(std::string_view field, std::size_t characters, TextRule rule) {
    if (characters >= rule.min && characters <= rule.max) return;
    refuse_field(
        field,
        "has " + std::to_string(rule.min) + " to " + std::to_string(rule.max) +
            " characters, not " + std::to_string(characters)
    );
}

}  // namespace

void refuse_field(std::string_view field, std::string_view rule) {
    throw std::invalid_argument{std::string{field} + " " + std::string{rule}};
}

void check_text(std::string_view field, std::string_view text, TextRule rule) {
    if (!base::is_utf8(text)) refuse_field(field, "must be UTF-8");
    const auto is_control = [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; };
    if (std::any_of(text.begin(), text.end(), is_control))
        refuse_field(field, "has no control characters");
    if (!text.empty() && (text.front() == ' ' || text.back() == ' '))
        refuse_field(field, "does not begin or end with a space");
    std::size_t characters = 0;
    for (auto rest = text; !rest.empty(); rest.remove_prefix(base::character_length(rest)))
        ++characters;
    check_length(field, characters, rule);
}

void check_ascii(std::string_view field, std::string_view text, TextRule rule) {
    if (!std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; }))
        refuse_field(field, "has printable ASCII characters only");
    check_text(field, text, rule);
}

void check_date(std::string_view field, std::string_view text) {
    const auto at = base::time_from_rfc3339(std::string{text} + "T00:00:00Z");
    if (text.size() != 10 || !at) refuse_field(field, "must be a date such as 2026-11-30");
}

}  // namespace pawl::bank
