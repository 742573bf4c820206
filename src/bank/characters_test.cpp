#include "src/bank/characters.hpp"

#include "src/base/text.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string_view>
#include <vector>

namespace pawl::bank::characters_test {

using namespace std::string_view_literals;

namespace {

struct Case {
    std::string name;
    std::string text;
    std::string epc217;
    std::string ascii;
};

TEST(BankCharacters, a_text_is_written_in_the_letters_of_the_bank) {
    const std::vector<Case> cases{
        {"German", "Jürgen Groß & Söhne", "Jurgen Gros + Sohne", "Jurgen Gros & Sohne"},
        {"decomposed", "Rene\u0301", "Rene", "Rene"},
        {"Polish", "Łukasz Żółć", "Lukasz Zolc", "Lukasz Zolc"},
        {"Greek", "Θεόδωρος Ψυχή", "THeodoros PSychi", "THeodoros PSychi"},
        {"Bulgarian", "Щъркел Юлия", "SHTarkel YUliya", "SHTarkel YUliya"},
        {"signs",
         "a\u2019b \u201cc\u201d [d]_e; 5\u20ac",
         "a'b .c. (d)-e, 5E",
         "a'b .c. [d]_e; 5E"},
        {"no form", "李小龍", "李小龍", "李小龍"},
        {"no character", "a\uffff", "a\uffff", "a\uffff"}};
    for (const auto& one : cases) {
        EXPECT_EQ(transliterated(one.text, CharacterSet::epc217), one.epc217) << one.name;
        EXPECT_EQ(transliterated(one.text, CharacterSet::ascii), one.ascii) << one.name;
        EXPECT_EQ(transliterated(one.text, CharacterSet::xml), one.text) << one.name;
    }
    EXPECT_THROW((void)transliterated("\xff", CharacterSet::epc217), std::invalid_argument);
}

TEST(BankCharacters, what_nobody_sees_is_in_no_set) {
    for (const char32_t c : U"\u00ad\u061c\u200b\u200f\u202e\u2066\ufeff\U000e0041"sv)
        EXPECT_FALSE(is_in(CharacterSet::xml, c)) << name_of(c);
    for (const char32_t c : U"\u00ac\u00ae\u2010\u2030\u674e\U0001f600"sv)
        EXPECT_TRUE(is_in(CharacterSet::xml, c)) << name_of(c);
}

TEST(BankCharacters, what_becomes_another_text_is_wholly_in_the_set) {
    for (char32_t c = 0x80; c <= 0x20ff; ++c) {
        std::string text;
        if (c < 0x800)
            text = {static_cast<char>(0xc0U | c >> 6U), static_cast<char>(0x80U | (c & 0x3fU))};
        else
            text = {
                static_cast<char>(0xe0U | c >> 12U),
                static_cast<char>(0x80U | (c >> 6U & 0x3fU)),
                static_cast<char>(0x80U | (c & 0x3fU))};
        ASSERT_EQ(code_point(text), c);
        const auto made = transliterated(text, CharacterSet::epc217);
        if (made == text) continue;
        for (const char one : made)
            EXPECT_TRUE(is_in(CharacterSet::epc217, static_cast<unsigned char>(one)))
                << name_of(c) << ' ' << made;
    }
}

}  // namespace

}  // namespace pawl::bank::characters_test
