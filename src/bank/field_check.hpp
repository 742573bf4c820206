#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Checks of a file's fields. Each throws std::invalid_argument, which names the field and the rule.
namespace pawl::bank {

struct TextRule {
    std::size_t min{1};
    std::size_t max{};  // Characters.
};

[[noreturn]] void refuse_field(std::string_view field, std::string_view rule);
// UTF-8 without control characters, not blank at its ends.
void check_text(std::string_view field, std::string_view text, TextRule rule);
// Printable ASCII.
void check_ascii(std::string_view field, std::string_view text, TextRule rule);
// 2026-11-30, a day that exists.
void check_date(std::string_view field, std::string_view text);

}  // namespace pawl::bank
