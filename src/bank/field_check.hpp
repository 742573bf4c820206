#pragma once

#include <pawl/bank_file.hpp>

#include <cstddef>
#include <string>
#include <string_view>

// Checks of a file's fields. Each throws std::invalid_argument, which names the field and the rule.
namespace pawl::bank {

struct TextRule {
    std::size_t min{1};
    std::size_t max{};  // CharacterSet.
    CharacterSet characters{CharacterSet::ascii};
};

[[noreturn]] void refuse_field(std::string_view field, std::string_view rule);
// UTF-8 of the rule's characters, not blank at its ends.
void check_text(std::string_view field, std::string_view text, TextRule rule);
// The same; in epc217 an id neither begins nor ends with /, and has no //.
void check_id(std::string_view field, std::string_view text, TextRule rule);
// 2026-11-30, a day that exists.
void check_date(std::string_view field, std::string_view text);

}  // namespace pawl::bank
