#include "src/store/postgres/parameters.hpp"

#include <boost/algorithm/hex.hpp>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace pawl::postgres {

namespace {

std::string hex(const std::optional<std::string>& bytes) {
    return bytes ? boost::algorithm::hex_lower(*bytes) : "none";
}

}  // namespace

// As PostgreSQL writes them: SELECT encode(timestamptz_send(...), 'hex').
TEST(ParametersTest, a_time_has_the_bytes_of_postgresql) {
    EXPECT_EQ(hex(binary_time("2000-01-01T00:00:00.000Z")), "0000000000000000");
    EXPECT_EQ(hex(binary_time("2027-01-15T08:00:00.123Z")), "00030815ed628078");
    EXPECT_EQ(hex(binary_time("1999-12-31T23:59:59.999Z")), "fffffffffffffc18");
    EXPECT_EQ(hex(binary_time("9999-12-31T23:59:59.999Z")), "0380e70b913b7c18");
}

TEST(ParametersTest, another_text_is_no_time) {
    for (const auto* text :
         {"", "infinity", "2027-01-15 08:00:00.123456+00", "2027-01-15T08:00:00Z"})
        EXPECT_EQ(binary_time(text), std::nullopt) << text;
}

TEST(ParametersTest, only_a_value_that_is_known_as_a_time_is_binary) {
    const std::string time = "2027-01-15T08:00:00.123Z";
    const std::vector<std::optional<std::string>> values{time, time, "infinity", std::nullopt, "7"};
    const Parameters parameters{values, {false, true, true, true}};

    ASSERT_EQ(parameters.count(), 5);
    EXPECT_EQ(parameters.values()[0], time);
    EXPECT_EQ(std::string(parameters.values()[1], 8), binary_time(time));
    EXPECT_EQ(parameters.values()[2], std::string{"infinity"});
    EXPECT_EQ(parameters.values()[3], nullptr);
    EXPECT_EQ(parameters.values()[4], std::string{"7"});
    EXPECT_EQ(
        std::vector<int>(parameters.formats(), parameters.formats() + 5),
        (std::vector{0, 1, 0, 0, 0})
    );
    EXPECT_EQ(
        std::vector<int>(parameters.lengths(), parameters.lengths() + 5),
        (std::vector{0, 8, 0, 0, 0})
    );
}

}  // namespace pawl::postgres
