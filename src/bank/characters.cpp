#include "src/bank/characters.hpp"

#include "src/base/text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>

namespace pawl::bank {

namespace {

constexpr std::string_view epc217_signs = "/-?:().,'+ ";

// Unicode's category Cf: invisible, or they change the direction, so that a person who approves a
// file at the bank reads another name.
struct Range {
    char32_t first;
    char32_t last;
};
constexpr std::array format_characters{
    Range{0xad, 0xad},       Range{0x600, 0x605},     Range{0x61c, 0x61c},
    Range{0x6dd, 0x6dd},     Range{0x70f, 0x70f},     Range{0x890, 0x891},
    Range{0x8e2, 0x8e2},     Range{0x180e, 0x180e},   Range{0x200b, 0x200f},
    Range{0x202a, 0x202e},   Range{0x2060, 0x2064},   Range{0x2066, 0x206f},
    Range{0xfeff, 0xfeff},   Range{0xfff9, 0xfffb},   Range{0x110bd, 0x110bd},
    Range{0x110cd, 0x110cd}, Range{0x13430, 0x13438}, Range{0x1bca0, 0x1bca3},
    Range{0x1d173, 0x1d17a}, Range{0xe0001, 0xe0001}, Range{0xe0020, 0xe007f}};

bool is_format(char32_t c) {
    return std::ranges::any_of(format_characters, [c](const Range& range) {
        return c >= range.first && c <= range.last;
    });
}

struct Replacement {
    std::string_view characters;
    std::string_view by;
};
// EPC217-08, "SEPA requirements for an extended character set": signs, Latin, Greek and Cyrillic
// letters. The signs of print and the letters of Vietnamese, Serbian, Russian and Ukrainian are
// not in that document.
constexpr std::array replacements{
    Replacement{"&", "+"},
    Replacement{";", ","},
    Replacement{"[{", "("},
    Replacement{"]}", ")"},
    Replacement{"\\|", "/"},
    Replacement{"_~‐‑‒–—―−", "-"},
    Replacement{"`´‘’‚′ʼ", "'"},
    Replacement{"!\"#$%*<=>@^¡¢£¤¥¦§¨©ª«¬®¯°±²³¶·¸¹º»¼½¾×÷“”„…•", "."},
    Replacement{"€", "E"},
    Replacement{"¿", "?"},
    Replacement{"\u00a0\u2007\u2009\u202f", " "},
    Replacement{"ÀÁÂÃÄÅÆĀĂĄǍẠẢẤẦẨẪẬẮẰẲẴẶΆΑА", "A"},
    Replacement{"àáâãäåæāăąǎạảấầẩẫậắằẳẵặάαа", "a"},
    Replacement{"Б", "B"},
    Replacement{"б", "b"},
    Replacement{"ÇĆĈĊČЋ", "C"},
    Replacement{"çćĉċčћ", "c"},
    Replacement{"ÐĎĐΔДЂ", "D"},
    Replacement{"ðďđδдђ", "d"},
    Replacement{"ÈÉÊËĒĔĖĘĚẸẺẼẾỀỂỄỆΈΕЕЁЄЭ", "E"},
    Replacement{"èéêëēĕėęěẹẻẽếềểễệέεеёєэ", "e"},
    Replacement{"ΦФ", "F"},
    Replacement{"φф", "f"},
    Replacement{"ĜĞĠĢΓГҐ", "G"},
    Replacement{"ĝğġģγгґ", "g"},
    Replacement{"ĤĦХ", "H"},
    Replacement{"ĥħх", "h"},
    Replacement{"ÌÍÎÏĨĪĬĮİỈỊΉΗΊΙΪИІЇ", "I"},
    Replacement{"ìíîïĩīĭįıỉịήηίιϊΐиії", "i"},
    Replacement{"ĴЈ", "J"},
    Replacement{"ĵј", "j"},
    Replacement{"ĶΚК", "K"},
    Replacement{"ķĸκк", "k"},
    Replacement{"ĹĻĽĿŁΛЛ", "L"},
    Replacement{"ĺļľŀłλл", "l"},
    Replacement{"ΜМ", "M"},
    Replacement{"μмµ", "m"},
    Replacement{"ÑŃŅŇŊΝН", "N"},
    Replacement{"ñńņňŉŋνн", "n"},
    Replacement{"ÒÓÔÕÖØŌŎŐŒƠỌỎỐỒỔỖỘỚỜỞỠỢΌΟΏΩО", "O"},
    Replacement{"òóôõöøōŏőœơọỏốồổỗộớờởỡợόοώωо", "o"},
    Replacement{"ΠП", "P"},
    Replacement{"πп", "p"},
    Replacement{"ŔŖŘΡР", "R"},
    Replacement{"ŕŗřρр", "r"},
    Replacement{"ŚŜŞŠȘΣС", "S"},
    Replacement{"śŝşšșßσςс", "s"},
    Replacement{"ÞŢŤŦȚΤТ", "T"},
    Replacement{"þţťŧțτт", "t"},
    Replacement{"ÙÚÛÜŨŪŬŮŰŲƯỤỦỨỪỬỮỰУ", "U"},
    Replacement{"ùúûüũūŭůűųưụủứừửữựу", "u"},
    Replacement{"ΒВ", "V"},
    Replacement{"βв", "v"},
    Replacement{"Ŵ", "W"},
    Replacement{"ŵ", "w"},
    Replacement{"Ξ", "X"},
    Replacement{"ξ", "x"},
    Replacement{"ÝŶŸỲỴỶỸΎΥΫЙЫЬ", "Y"},
    Replacement{"ýÿŷỳỵỷỹύυϋΰйыь", "y"},
    Replacement{"ŹŻŽΖЗ", "Z"},
    Replacement{"źżžζз", "z"},
    Replacement{"Ĳ", "IJ"},
    Replacement{"ĳ", "ij"},
    Replacement{"Љ", "LJ"},
    Replacement{"љ", "lj"},
    Replacement{"Њ", "NJ"},
    Replacement{"њ", "nj"},
    Replacement{"Џ", "DZ"},
    Replacement{"џ", "dz"},
    Replacement{"Θ", "TH"},
    Replacement{"θ", "th"},
    Replacement{"Χ", "CH"},
    Replacement{"χ", "ch"},
    Replacement{"Ψ", "PS"},
    Replacement{"ψ", "ps"},
    Replacement{"Ж", "ZH"},
    Replacement{"ж", "zh"},
    Replacement{"Ц", "TS"},
    Replacement{"ц", "ts"},
    Replacement{"Ч", "CH"},
    Replacement{"ч", "ch"},
    Replacement{"Ш", "SH"},
    Replacement{"ш", "sh"},
    Replacement{"Щ", "SHT"},
    Replacement{"щ", "sht"},
    Replacement{"Ъ", "A"},
    Replacement{"ъ", "a"},
    Replacement{"Ю", "YU"},
    Replacement{"ю", "yu"},
    Replacement{"Я", "YA"},
    Replacement{"я", "ya"}};

// A sign on the letter before it, such as the second half of a decomposed "é".
bool is_combining(char32_t c) {
    return c >= 0x300 && c <= 0x36f;
}

std::string_view replacement_of(std::string_view character) {
    if (is_combining(code_point(character))) return {};
    for (const auto& one : replacements)
        if (one.characters.find(character) != one.characters.npos) return one.by;
    return character;
}

}  // namespace

char32_t code_point(std::string_view utf8) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(utf8[i]); };
    constexpr std::array<unsigned, 5> first_bits{0, 0x7f, 0x1f, 0x0f, 0x07};
    char32_t value = byte(0) & first_bits.at(utf8.size());
    for (std::size_t i = 1; i < utf8.size(); ++i) value = value << 6U | (byte(i) & 0x3fU);
    return value;
}

bool is_in(CharacterSet set, char32_t c) {
    const bool printable_ascii = c >= ' ' && c <= '~';
    if (set == CharacterSet::ascii) return printable_ascii;
    if (set == CharacterSet::epc217) {
        const auto one = static_cast<char>(c);
        const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        return printable_ascii &&
               (letter || (c >= '0' && c <= '9') || epc217_signs.find(one) != epc217_signs.npos);
    }
    const bool control = c < ' ' || (c >= 0x7f && c <= 0x9f);
    const bool noncharacter = (c >= 0xfdd0 && c <= 0xfdef) || (c & 0xfffeU) == 0xfffe;
    return !control && !noncharacter && !is_format(c);
}

std::string name_of(char32_t character) {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "U+%04X", static_cast<unsigned>(character));
    return text.data();
}

std::string_view rule_of(CharacterSet set) {
    switch (set) {
        case CharacterSet::epc217:
            return "which is not in the bank's character set (EPC217-08)";
        case CharacterSet::ascii:
            return "which is not printable ASCII";
        case CharacterSet::xml:
            break;
    }
    return "which XML 1.0 does not allow, which is invisible, or which is no character";
}

std::string transliterated(std::string_view text, CharacterSet to) {
    if (!base::is_utf8(text)) throw std::invalid_argument{"a text must be UTF-8"};
    std::string made;
    while (!text.empty()) {
        const auto character = text.substr(0, base::character_length(text));
        text.remove_prefix(character.size());
        made += is_in(to, code_point(character)) ? character : replacement_of(character);
    }
    return made;
}

bool has_only(CharacterSet set, std::string_view text) {
    if (!base::is_utf8(text)) return false;
    for (; !text.empty(); text.remove_prefix(base::character_length(text)))
        if (!is_in(set, code_point(text.substr(0, base::character_length(text))))) return false;
    return true;
}

}  // namespace pawl::bank
