#include "src/bank/field_check.hpp"

#include "src/bank/characters.hpp"
#include "src/base/text.hpp"
#include "src/base/time_text.hpp"

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
    if (!text.empty() && (text.front() == ' ' || text.back() == ' '))
        refuse_field(field, "does not begin or end with a space");
    std::size_t characters = 0;
    for (auto rest = text; !rest.empty(); rest.remove_prefix(base::character_length(rest))) {
        const auto c = code_point(rest.substr(0, base::character_length(rest)));
        if (!is_in(rule.characters, c))
            refuse_field(field, "has " + name_of(c) + ", " + std::string{rule_of(rule.characters)});
        ++characters;
    }
    check_length(field, characters, rule);
}

void check_id(std::string_view field, std::string_view text, TextRule rule) {
    check_text(field, text, rule);
    if (rule.characters == CharacterSet::epc217 &&
        (text.starts_with('/') || text.ends_with('/') || text.find("//") != text.npos))
        refuse_field(field, "does not begin or end with /, and has no // (EPC217-08)");
}

void check_date(std::string_view field, std::string_view text) {
    const auto at = base::time_from_rfc3339(std::string{text} + "T00:00:00Z");
    if (text.size() != 10 || !at) refuse_field(field, "must be a date such as 2026-11-30");
}

}  // namespace pawl::bank
