#include "src/json/number.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <string>
#include <vector>

namespace pawl::json {

namespace {

std::string written(double value) {
    std::string out;
    append_number(out, value);
    return out;
}

struct Row {
    std::uint64_t bits;
    std::string text;
};

// RFC 8785, appendix B, without its last two columns, NaN and infinity, which JSON texts can't
// hold.
const std::vector<Row> appendix_b = {
    {0x0000000000000000, "0"},
    {0x8000000000000000, "0"},
    {0x0000000000000001, "5e-324"},
    {0x8000000000000001, "-5e-324"},
    {0x7fefffffffffffff, "1.7976931348623157e+308"},
    {0xffefffffffffffff, "-1.7976931348623157e+308"},
    {0x4340000000000000, "9007199254740992"},
    {0xc340000000000000, "-9007199254740992"},
    {0x4430000000000000, "295147905179352830000"},
    {0x44b52d02c7e14af5, "9.999999999999997e+22"},
    {0x44b52d02c7e14af6, "1e+23"},
    {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
    {0x444b1ae4d6e2ef4e, "999999999999999700000"},
    {0x444b1ae4d6e2ef4f, "999999999999999900000"},
    {0x444b1ae4d6e2ef50, "1e+21"},
    {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
    {0x3eb0c6f7a0b5ed8d, "0.000001"},
    {0x41b3de4355555553, "333333333.3333332"},
    {0x41b3de4355555554, "333333333.33333325"},
    {0x41b3de4355555555, "333333333.3333333"},
    {0x41b3de4355555556, "333333333.3333334"},
    {0x41b3de4355555557, "333333333.33333343"},
    {0xbecbf647612f3696, "-0.0000033333333333333333"},
    {0x43143ff3c1cb0959, "1424953923781206.2"},
};

template <class T>
void expect_number(std::string_view literal, T value) {
    auto number = number_of(literal);
    ASSERT_TRUE(std::holds_alternative<Number>(number)) << literal;
    ASSERT_TRUE(std::holds_alternative<T>(std::get<Number>(number))) << literal;
    EXPECT_EQ(std::get<T>(std::get<Number>(number)), value) << literal;
}

void expect_refused(std::string_view literal, std::string_view why) {
    auto number = number_of(literal);
    ASSERT_TRUE(std::holds_alternative<std::string>(number)) << literal;
    EXPECT_EQ(std::get<std::string>(number), why) << literal;
}

constexpr auto int_max = std::numeric_limits<std::int64_t>::max();
constexpr auto int_min = std::numeric_limits<std::int64_t>::min();
constexpr auto natural_max = std::numeric_limits<std::uint64_t>::max();

}  // namespace

TEST(AppendNumber, writes_the_table_of_rfc_8785_appendix_b) {
    for (const auto& [bits, text] : appendix_b)
        EXPECT_EQ(written(std::bit_cast<double>(bits)), text);
}

TEST(AppendNumber, keeps_all_digits_of_whole_doubles_below_2_to_64) {
    EXPECT_EQ(
        written(12345678901234567168.0), "12345678901234567168"
    );  // The RFC: 12345678901234567000.
    EXPECT_EQ(written(-9223372036854775808.0), "-9223372036854775808");
    EXPECT_EQ(written(18446744073709549568.0), "18446744073709549568");
    EXPECT_EQ(written(18446744073709551616.0), "18446744073709552000");  // 2^64: as in the RFC.
    EXPECT_EQ(written(-9223372036854777856.0), "-9223372036854778000");
}

TEST(NumberOf, whole_literals_are_exact_up_to_64_bits) {
    expect_number<std::int64_t>("0", 0);
    expect_number<std::int64_t>("-0", 0);
    expect_number<std::int64_t>("9007199254740993", 9'007'199'254'740'993);
    expect_number<std::int64_t>("9223372036854775807", int_max);
    expect_number<std::int64_t>("-9223372036854775808", int_min);
    expect_number<std::uint64_t>("9223372036854775808", 9'223'372'036'854'775'808U);
    expect_number<std::uint64_t>("18446744073709551615", natural_max);
}

TEST(NumberOf, larger_whole_literals_are_taken_only_as_ecmascript_writes_them) {
    expect_number<double>("18446744073709552000", 18446744073709551616.0);
    expect_number<double>("295147905179352830000", 295147905179352825856.0);
    for (auto* literal :
         {"18446744073709551616",
          "18446744073709551617",
          "295147905179352825856",
          "-9223372036854775809",
          "12345678901234567890123",
          "1000000000000000000000"})
        expect_refused(literal, "Is a whole number with more digits than can be held exactly.");
}

TEST(NumberOf, fractions_of_up_to_fifteen_digits_are_the_nearest_double) {
    expect_number<double>("0.1", 0.1);
    expect_number<double>("1.0", 1.0);
    expect_number<double>("1e0", 1.0);
    expect_number<double>("0.100000000000000", 0.1);
    expect_number<double>("1234567890.12345", 1234567890.12345);
    expect_number<double>("9007199254740992.0", 9007199254740992.0);
    expect_number<double>("1e23", 1e23);
    expect_number<double>("4.9e-324", std::numeric_limits<double>::denorm_min());
    expect_number<double>("0e999", 0.0);
    expect_number<double>("0.000e-999", 0.0);
}

// Boost.JSON 1.81 is off by one bit for each of these, and for 15 of 100 longitudes printed with
// all their digits.
TEST(NumberOf, hard_fractions_are_correctly_rounded) {
    expect_number<double>("160.37970401332115", 160.37970401332115);
    expect_number<double>("-100.02637092432641", -100.02637092432641);
    expect_number<double>("48.802781212179468", 48.802781212179468);
    expect_number<double>("6.1279183657966458e+88", 6.1279183657966458e+88);
    expect_number<double>("9.5998012756364456e-283", 9.5998012756364456e-283);
    expect_number<double>("2.2250738585072009e-308", 0x0.fffffffffffffp-1022);
}

// Issue 16, number 13: under one key, 0.1 was the same request as 0.10000000000000000001.
TEST(NumberOf, fractions_that_would_be_rounded_are_refused) {
    const auto rounded_to = [](std::string_view literal, const std::string& kept) {
        expect_refused(
            literal, "Has more digits than are kept: it would be rounded to " + kept + "."
        );
    };
    rounded_to("0.10000000000000000001", "0.1");
    rounded_to("-0.10000000000000000001", "-0.1");
    rounded_to("1.00000000000000000001", "1");
    rounded_to("0.1000000000000000055511151231257827021181583404541015625", "0.1");
    rounded_to("9007199254740993.0", "9007199254740992");
    rounded_to("9007199254740993e0", "9007199254740992");
    rounded_to("1.2345678901234567e19", "12345678901234567168");
    rounded_to("90000000000000.01", "90000000000000.02");
    rounded_to("123456789012345.68", "123456789012345.69");
    rounded_to("2.2250738585072011e-308", "2.225073858507201e-308");
    rounded_to("3e-324", "5e-324");
}

// As written by programs in C, .NET and older Java, with more digits than the fewest.
TEST(NumberOf, a_double_written_with_up_to_seventeen_digits_is_that_double) {
    expect_number<double>("0.10000000000000001", 0.1);
    expect_number<double>("0.29999999999999999", 0.3);
    expect_number<double>("5.6843418860808015E-14", 0x1p-44);  // Java until 18.
    // The fewest digits, but not the nearest.
    expect_number<double>("5.684341886080802e-14", 0x1p-44);
    expect_number<double>("1.0000000000000001e+23", 0x1.52d02c7e14af7p+76);
    expect_number<double>("4.9406564584124654e-324", std::numeric_limits<double>::denorm_min());
}

TEST(NumberOf, literals_beyond_a_double_are_refused) {
    for (auto* literal :
         {"1e400",
          "-1e400",
          "1.8e308",
          "1e-400",
          "-1e-400",
          "2e-324",
          "1e99999999999",
          "1e-99999999999"})
        expect_refused(literal, out_of_double);
}

TEST(IsNumber, follows_the_grammar_of_json) {
    for (auto* text : {"0", "-0", "12", "1.5", "-1.50", "1e5", "1E+05", "0.1e-7", "10"})
        EXPECT_TRUE(is_number(text)) << text;
    for (auto* text :
         {"",   "-",    "+1",    "01",  "00",  "1.",  ".5",  "1e",    "1e+",   " 1",
          "1 ", "0x10", "1_000", "1,5", "inf", "NaN", "--1", "1.5.2", "1e5e5", "\xD9\xA1"})
        EXPECT_FALSE(is_number(text)) << text;
}

TEST(ToInteger, a_double_counts_if_it_is_whole_and_below_2_to_53) {
    std::int64_t out{};
    DecodeProblem problem;

    EXPECT_TRUE(to_integer(1.0, int_min, int_max, out, problem));
    EXPECT_EQ(out, 1);
    EXPECT_TRUE(to_integer(-9007199254740991.0, int_min, int_max, out, problem));
    EXPECT_EQ(out, -9'007'199'254'740'991);
    EXPECT_FALSE(to_integer(1.5, int_min, int_max, out, problem));
    EXPECT_EQ(problem.why, "Must be a whole number.");
    EXPECT_FALSE(to_integer(9007199254740992.0, int_min, int_max, out, problem));
    EXPECT_EQ(problem.why, "Must be written with all its digits.");
    EXPECT_FALSE(to_integer(1e300, -8, 7, out, problem));
    EXPECT_EQ(problem.why, "Must be a whole number from -8 to 7.");
}

TEST(ToNatural, covers_all_64_bits_and_nothing_negative) {
    std::uint64_t out{};
    DecodeProblem problem;

    EXPECT_TRUE(to_natural(natural_max, natural_max, out, problem));
    EXPECT_EQ(out, natural_max);
    EXPECT_TRUE(to_natural(-0.0, 5, out, problem));
    EXPECT_EQ(out, 0U);
    EXPECT_FALSE(to_natural(std::int64_t{-1}, 5, out, problem));
    EXPECT_FALSE(to_natural(-1.0, 5, out, problem));
    EXPECT_FALSE(to_natural(std::int64_t{6}, 5, out, problem));
    EXPECT_EQ(problem.why, "Must be a whole number from 0 to 5.");
    problem = {};
    EXPECT_FALSE(to_natural(1e20, 5, out, problem)) << "no number of 64 bits";
    EXPECT_EQ(problem.why, "Must be a whole number from 0 to 5.");
}

TEST(ToReal, whole_numbers_must_be_exact) {
    double out{};
    float narrow{};
    DecodeProblem problem;

    EXPECT_TRUE(to_real(std::int64_t{9'007'199'254'740'992}, out, problem));
    EXPECT_TRUE(to_real(std::int64_t{9'007'199'254'740'994}, out, problem));
    EXPECT_EQ(out, 9007199254740994.0);
    EXPECT_FALSE(to_real(std::int64_t{9'007'199'254'740'993}, out, problem));
    EXPECT_FALSE(to_real(int_max, out, problem));
    EXPECT_FALSE(to_real(natural_max, out, problem));
    EXPECT_TRUE(to_real(int_min, out, problem));
    EXPECT_TRUE(to_real(std::int64_t{16'777'216}, narrow, problem));
    EXPECT_FALSE(to_real(std::int64_t{16'777'217}, narrow, problem));
    EXPECT_EQ(problem.why, "Has more digits than its type holds exactly.");
}

TEST(ToReal, a_float_refuses_what_it_cannot_hold_but_rounds_fractions) {
    float out{};
    DecodeProblem problem;

    EXPECT_TRUE(to_real(0.1, out, problem));
    EXPECT_EQ(out, 0.1F);
    EXPECT_TRUE(to_real(0.0, out, problem));
    EXPECT_FALSE(to_real(1e39, out, problem));
    EXPECT_FALSE(to_real(-1e-60, out, problem));
    EXPECT_EQ(problem.why, "Is too large or too small for its type.");
}

}  // namespace pawl::json
