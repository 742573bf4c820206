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

TEST(Amounts, a_text_is_read_without_losing_a_digit) {
    EXPECT_EQ(amount_of("123.45", "EUR"), 12345);
    EXPECT_EQ(amount_of("123.4", "EUR"), 12340);
    EXPECT_EQ(amount_of("123", "EUR"), 12300);
    EXPECT_EQ(amount_of("123.45000", "EUR"), 12345);
    EXPECT_EQ(amount_of("00000000000000000001.00", "EUR"), 100);
    EXPECT_EQ(amount_of("123.", "JPY"), 123);
    EXPECT_EQ(amount_of("9999999999999999.99", "EUR"), 999'999'999'999'999'999);
}

TEST(Amounts, a_text_that_is_no_amount_of_the_currency_is_refused) {
    for (const auto* bad :
         {"",
          ".5",
          "1,5",
          "-1",
          "+1",
          "1e3",
          "123.456",
          "1.2.3",
          " 1",
          "1 ",
          "99999999999999999.00"})
        EXPECT_FALSE(amount_of(bad, "EUR")) << bad;
    EXPECT_FALSE(amount_of("1.5", "JPY"));
}

}  // namespace

}  // namespace pawl::bank
