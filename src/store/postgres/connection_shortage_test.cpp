#include "src/store/postgres/connection_shortage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl::postgres {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class ConnectionShortageTest : public ::testing::Test {
protected:
    std::string refused_at(
        std::chrono::milliseconds at,
        int connected,
        std::string_view why = "FATAL:  sorry, too many clients already"
    ) {
        const auto warning = rule.refused(connected, why, start + at);
        return warning ? warning->detail : "";
    }

    const ConnectionShortage::Moment start{1h};
    ConnectionShortage rule{16};
};

TEST_F(ConnectionShortageTest, a_number_stable_for_a_second_is_reported_once) {
    EXPECT_EQ(refused_at(0ms, 9), "");
    EXPECT_EQ(refused_at(999ms, 9), "");

    const auto said = refused_at(1'000ms, 9);

    EXPECT_THAT(said, HasSubstr("9 of 16 connections"));
    EXPECT_THAT(said, HasSubstr("connections=9 in the URL"));
    EXPECT_THAT(said, HasSubstr("too many clients"));
    EXPECT_EQ(refused_at(1'001ms, 9), "");
    EXPECT_EQ(refused_at(1h, 9), "");
}

TEST_F(ConnectionShortageTest, an_unreachable_database_is_not_reported) {
    (void)refused_at(0s, 15, "Connection refused");

    EXPECT_EQ(refused_at(10s, 15, "Connection refused"), "");
    EXPECT_EQ(refused_at(11s, 15), "");
}

TEST_F(ConnectionShortageTest, changing_numbers_are_not_reported) {
    for (int i = 0; i < 15; ++i) EXPECT_EQ(refused_at(i * 900ms, i % 2 == 0 ? 9 : 10), "");
}

TEST_F(ConnectionShortageTest, another_stable_number_is_reported_again) {
    (void)refused_at(0ms, 9);
    (void)refused_at(1s, 9);

    EXPECT_EQ(refused_at(2s, 12), "");
    EXPECT_THAT(refused_at(3s, 12), HasSubstr("12 of 16"));
    EXPECT_EQ(refused_at(4s, 9), "");
    EXPECT_THAT(refused_at(5s, 9), HasSubstr("9 of 16"));
}

TEST_F(ConnectionShortageTest, completeness_is_reported_only_after_a_shortage_was) {
    EXPECT_FALSE(rule.opened(16));
    (void)refused_at(0ms, 9);
    (void)refused_at(1s, 9);

    EXPECT_FALSE(rule.opened(15));
    const auto all = rule.opened(16);

    ASSERT_TRUE(all);
    EXPECT_THAT(all->detail, HasSubstr("all 16"));
    EXPECT_FALSE(rule.opened(16));
    (void)refused_at(2s, 9);
    EXPECT_THAT(refused_at(3s, 9), HasSubstr("9 of 16"));
}

// The database is down: requests' errors and PAWL0008 report that.
TEST_F(ConnectionShortageTest, no_connection_at_all_is_not_reported) {
    EXPECT_EQ(refused_at(0ms, 0), "");
    EXPECT_EQ(refused_at(1h, 0), "");
}

}  // namespace pawl::postgres
