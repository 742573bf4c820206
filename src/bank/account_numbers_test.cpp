#include <pawl/bank_file.hpp>

#include "src/bank/amount.hpp"

#include <gtest/gtest.h>

namespace pawl::bank {

namespace {

// The registry of IBANs (SWIFT) gives these as examples.
TEST(AccountNumbers, an_iban_has_the_right_check_digits) {
    for (const auto* good :
         {"DE89370400440532013000",
          "GB29NWBK60161331926819",
          "NO9386011117947",
          "MT84MALT011000012345MTLCAST001S"})
        EXPECT_TRUE(is_iban(good)) << good;
    for (const auto* bad :
         {"DE88370400440532013000",
          "DE89370400440532013001",
          "",
          "DE89",
          "de89370400440532013000",
          "DE89 3704 0044 0532 0130 00",
          "D189370400440532013000",
          "DEX9370400440532013000"})
        EXPECT_FALSE(is_iban(bad)) << bad;
}

TEST(AccountNumbers, two_swapped_digits_are_no_iban) {
    const std::string good{"DE89370400440532013000"};
    for (std::size_t i = 4; i + 1 < good.size(); ++i) {
        auto swapped = good;
        std::swap(swapped[i], swapped[i + 1]);
        EXPECT_EQ(is_iban(swapped), swapped == good) << swapped;
    }
}

TEST(AccountNumbers, a_routing_number_has_the_right_check_digit) {
    for (const auto* good : {"091000019", "021000021", "011401533"})
        EXPECT_TRUE(is_routing_number(good)) << good;
    for (const auto* bad : {"091000018", "000000000", "09100001", "0910000190", "09100001A", ""})
        EXPECT_FALSE(is_routing_number(bad)) << bad;
}

TEST(Amounts, decimals_are_those_of_the_currency) {
    EXPECT_EQ(amount_text(12345, "EUR"), "123.45");
    EXPECT_EQ(amount_text(5, "EUR"), "0.05");
    EXPECT_EQ(amount_text(12345, "JPY"), "12345");
    EXPECT_EQ(amount_text(5, "BHD"), "0.005");
}

struct Decimal {
    std::string text;
    std::optional<std::int64_t> units{};
};

// Issue 39, number 4: the lexical forms of xs:decimal (XML Schema 1.1 part 2, 3.3.3).
TEST(Amounts, each_form_of_a_decimal_is_read_without_losing_a_digit) {
    const std::vector<Decimal> texts{
        {"123.45", 12345},
        {"123.4", 12340},
        {"123", 12300},
        {"123.", 12300},
        {".5", 50},
        {"+1", 100},
        {"-1", -100},
        {"-0.00", 0},
        {" \n1\t", 100},
        {"123.4500000000", 12345},
        {"00000000000000000001.00", 100},
        {"9999999999999.99", 999'999'999'999'999},
        {""},
        {"."},
        {"+"},
        {"1,5"},
        {"1e3"},
        {"+-1"},
        {"1 2"},
        {"1.2.3"},
        {"0x1"},
        {"INF"},
        {"123.456"},
        {"0.000001"},
        {"10000000000000.00"}};
    for (const auto& [text, units] : texts) {
        const auto parts = decimal_parts(text);
        EXPECT_EQ(parts ? units_of(*parts, "EUR") : std::nullopt, units) << text;
    }
    EXPECT_FALSE(units_of(*decimal_parts("1.5"), "JPY"));
    EXPECT_EQ(units_of(*decimal_parts("1200.00"), "JPY"), 1200);
    EXPECT_EQ(whole_number(" +007.0 "), 7);
    EXPECT_FALSE(whole_number("7.5"));
    EXPECT_EQ(parts_text(1'250'000), "12.5");
    EXPECT_EQ(parts_text(-1'000), "-0.01");
    EXPECT_EQ(parts_text(700'000), "7");
}

}  // namespace

}  // namespace pawl::bank
