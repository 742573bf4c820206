#include "apps/rides/pages/sign_in_tries.hpp"

#include <gtest/gtest.h>

#include <string>

// Against guessing of tokens (issue 16, number 10).
namespace rides {
namespace {

using namespace std::chrono_literals;

const SignInTries::SteadyTime now{1'000s};

SignInTries::Who jane_from(const std::string& address) {
    return {address, "jane@example.com"};
}

TEST(SignInTries, one_address_may_try_ten_wrong_tokens_a_minute_over_all_accounts) {
    SignInTries tries;
    for (int n = 0; n < 10; ++n)
        EXPECT_FALSE(tries.begin({"192.0.2.1", std::to_string(n) + "@example.com"}, now)) << n;

    EXPECT_EQ(tries.begin({"192.0.2.1", "11@example.com"}, now), 6s);
    EXPECT_FALSE(tries.begin({"192.0.2.2", "11@example.com"}, now));
    EXPECT_FALSE(tries.begin({"192.0.2.1", "11@example.com"}, now + 6s));
    EXPECT_TRUE(tries.begin({"192.0.2.1", "11@example.com"}, now + 6s));
}

TEST(SignInTries, one_account_may_be_tried_with_ten_wrong_tokens_a_minute_from_all_addresses) {
    SignInTries tries;
    for (int n = 0; n < 10; ++n)
        EXPECT_FALSE(tries.begin(jane_from("192.0.2." + std::to_string(n)), now)) << n;

    EXPECT_EQ(tries.begin(jane_from("198.51.100.1"), now), 6s);
    EXPECT_FALSE(tries.begin({"192.0.2.1", "joe@example.com"}, now));
}

TEST(SignInTries, refused_tries_and_right_tokens_do_not_count) {
    SignInTries tries;
    for (int n = 0; n < 100; ++n) {
        ASSERT_FALSE(tries.begin(jane_from("192.0.2.1"), now));
        tries.right_token(jane_from("192.0.2.1"));
    }
    for (int n = 0; n < 10; ++n) EXPECT_FALSE(tries.begin(jane_from("192.0.2.1"), now));
    for (int n = 0; n < 100; ++n) EXPECT_EQ(tries.begin(jane_from("192.0.2.1"), now), 6s);

    EXPECT_FALSE(tries.begin(jane_from("192.0.2.1"), now + 6s));
}

TEST(SignInTries, memory_is_bounded_and_idle_entries_are_removed) {
    SignInTries tries{64};
    for (int n = 0; n < 10'000; ++n)
        (void)tries.begin({"192.0.2.1", std::to_string(n) + "@example.com"}, now);
    for (int n = 0; n < 10'000; ++n)
        (void)tries.begin(
            {"10.0." + std::to_string(n / 256) + "." + std::to_string(n % 256), "a@b"}, now
        );
    EXPECT_LE(tries.remembered(), 64U);

    EXPECT_FALSE(tries.begin({"203.0.113.1", "late@example.com"}, now + 2min));
    EXPECT_EQ(tries.remembered(), 2U);
}

TEST(SignInTries, one_household_counts_as_one_address) {
    EXPECT_EQ(network_of("192.0.2.1"), "192.0.2.1");
    EXPECT_EQ(network_of("::ffff:192.0.2.1"), "192.0.2.1");
    EXPECT_EQ(network_of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
    EXPECT_EQ(network_of("2001:db8:1:2:ffff::1"), network_of("2001:db8:1:2::1"));
    EXPECT_NE(network_of("2001:db8:1:3::1"), network_of("2001:db8:1:2::1"));
    EXPECT_EQ(network_of("no address"), "no address");
}

}  // namespace
}  // namespace rides
