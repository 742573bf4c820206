// Issue 38, number 5: a client's payout with the name "Jane \uffff Doe" made the whole file
// unreadable. Any payment that a writer accepts makes a file that a reader and the bank accept.

#include <pawl/bank_file.hpp>

#include "src/bank/characters.hpp"
#include "src/base/text.hpp"

#include <gtest/gtest.h>
#include <libxml/parser.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace pawl::bank::bank_file_property_test {

namespace {

void append_utf8(std::string& text, char32_t c) {
    const auto tail = [&](unsigned shift) {
        text += static_cast<char>(0x80U | (c >> shift & 0x3fU));
    };
    if (c < 0x80) {
        text += static_cast<char>(c);
    } else if (c < 0x800) {
        text += static_cast<char>(0xc0U | c >> 6U);
        tail(0);
    } else if (c < 0x10000) {
        text += static_cast<char>(0xe0U | c >> 12U);
        tail(6);
        tail(0);
    } else {
        text += static_cast<char>(0xf0U | c >> 18U);
        tail(12);
        tail(6);
        tail(0);
    }
}

// What a person types around what breaks formats: controls, NUL, surrogates, noncharacters, signs
// of XML, letters of other scripts, bytes that are no text, too many characters.
std::string any_text() {
    static const std::vector<char32_t> nasty{
        0,      1,      9,      10,     13,     0x7f,   0x85,   0x9f,    0xa0,     0x2028,
        0xd800, 0xdfff, 0xfdd0, 0xfeff, 0xfffd, 0xfffe, 0xffff, 0x1fffe, 0x10ffff, '<',
        '>',    '&',    '"',    '\'',   '/',    ']',    0x20ac, 0xdf,    0x429,    0x301};
    const auto plain = [] {
        std::string text;
        for (auto size = *rc::gen::inRange(0, 12); size > 0; --size)
            text += static_cast<char>(*rc::gen::inRange<int>('A', 'Z' + 1));
        return text;
    };
    // One odd part: with several, a writer that misses one would still refuse the text.
    auto text = plain();
    const auto kind = *rc::gen::inRange(0, 10);
    if (kind < 4)
        append_utf8(text, nasty[*rc::gen::inRange<std::size_t>(0, nasty.size())]);
    else if (kind < 6)
        append_utf8(text, static_cast<char32_t>(*rc::gen::inRange(0, 0x460)));
    else if (kind == 6)
        append_utf8(text, static_cast<char32_t>(*rc::gen::inRange(0, 0x110000)));
    else if (kind == 7)
        text += static_cast<char>(*rc::gen::inRange(0x80, 0x100));
    else if (kind == 8)
        text += std::string(static_cast<std::size_t>(*rc::gen::inRange(130, 150)), 'x');
    return text + plain();
}

CharacterSet any_set() {
    return *rc::gen::element(CharacterSet::epc217, CharacterSet::ascii, CharacterSet::xml);
}

// As a service with transliteration sends it.
std::string as_sent(std::string text, CharacterSet set) {
    if (!base::is_utf8(text) || *rc::gen::arbitrary<bool>()) return text;
    return transliterated(text, set);
}

void check_file(const std::string& bytes, CharacterSet set) {
    struct Free {
        void operator()(xmlDoc* document) const { xmlFreeDoc(document); }
    };
    const std::unique_ptr<xmlDoc, Free> document{xmlReadMemory(
        bytes.data(),
        static_cast<int>(bytes.size()),
        nullptr,
        nullptr,
        XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING
    )};
    RC_ASSERT(document != nullptr);
    std::string text;
    struct FreeText {
        void operator()(xmlChar* one) const { xmlFree(one); }
    };
    const std::unique_ptr<xmlChar, FreeText> all{
        xmlNodeGetContent(xmlDocGetRootElement(document.get()))};
    for (std::string_view rest{reinterpret_cast<const char*>(all.get())}; !rest.empty();
         rest.remove_prefix(base::character_length(rest)))
        RC_ASSERT(is_in(set, code_point(rest.substr(0, base::character_length(rest)))));
}

void check_any_transfer() {
    const auto set = any_set();
    const Pain001 file{
        .message_id = "PAYOUTS-1",
        .execution_date = "2026-11-30",
        .debtor_name = "Rocket Rides",
        .debtor_account = "DE89370400440532013000",
        .currency = "EUR",
        .characters = set};
    const CreditTransfer transfer{
        .end_to_end_id = *rc::gen::inRange(0, 4) > 0 ? "P1" : any_text(),
        .amount = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000),
        .creditor_name = as_sent(any_text(), set),
        .creditor_account = "GB29NWBK60161331926819",
        .remittance = *rc::gen::arbitrary<bool>() ? "" : as_sent(any_text(), set)};
    std::string bytes;
    try {
        bytes = write_pain001(file, {&transfer, 1});
    } catch (const std::invalid_argument&) {
        return;
    }
    check_file(bytes, set);
}

RC_GTEST_PROP(BankFileLaw, a_transfer_that_is_accepted_makes_a_file_that_can_be_read, ()) {
    for (int i = 0; i < 50; ++i) check_any_transfer();
}

RC_GTEST_PROP(BankFileLaw, a_credit_that_is_accepted_makes_a_file_of_94_columns, ()) {
    const auto text = [] { return as_sent(any_text(), CharacterSet::ascii); };
    const Nacha file{
        .destination = "091000019",
        .origin = "1234567890",
        .destination_name = *rc::gen::arbitrary<bool>() ? "The bank" : text(),
        .origin_name = "Rocket Rides",
        .company_name = *rc::gen::arbitrary<bool>() ? "Rocket Rides" : text(),
        .company_id = "1234567890",
        .description = "PAYOUT",
        .effective_date = "2026-11-30"};
    const AchCredit credit{
        .individual_id = *rc::gen::arbitrary<bool>() ? "P1" : text(),
        .name = text(),
        .routing_number = "021000021",
        .account_number = *rc::gen::arbitrary<bool>() ? "123" : text(),
        .cents = *rc::gen::inRange<std::int64_t>(-1, 20'000'000'000)};
    std::string bytes;
    try {
        bytes = write_nacha(file, {&credit, 1});
    } catch (const std::invalid_argument&) {
        return;
    }
    RC_ASSERT(bytes.size() % (95 * 10) == 0U);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        RC_ASSERT((i % 95 == 94 ? bytes[i] == '\n' : bytes[i] >= ' ' && bytes[i] <= '~'));
}

}  // namespace

}  // namespace pawl::bank::bank_file_property_test
