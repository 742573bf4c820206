#include <pawl/sign_in_limit.hpp>

#include <gtest/gtest.h>

#include <string>

// Against guessing of tokens (issue 16, number 10), and against locking others out (issue 38).
namespace pawl {
namespace {

using namespace std::chrono_literals;

const SignInLimit::SteadyTime start{1'000s};

class SignInLimitTest : public ::testing::Test {
protected:
    // Whether it was compared.
    bool wrong(const std::string& address, const std::string& account, int n) {
        const auto token = "wrong " + std::to_string(n);
        const SignInLimit::Try attempt{address, account, token};
        if (limit.begin(attempt, now)) return false;
        limit.wrong(attempt);
        return true;
    }
    bool right(const std::string& address, const std::string& account) {
        const SignInLimit::Try attempt{address, account, "the right token"};
        if (limit.begin(attempt, now)) return false;
        limit.right(attempt);
        return true;
    }

    SignInLimit limit;
    SignInLimit::SteadyTime now{start};
};

TEST_F(SignInLimitTest, ten_wrong_tokens_and_then_one_in_six_seconds_are_compared) {
    for (int n = 0; n < 10; ++n) EXPECT_TRUE(wrong("192.0.2.1", "joe", n)) << n;

    EXPECT_EQ(limit.begin({"192.0.2.1", "joe", "wrong"}, now), 6s);
    now += 6s;
    EXPECT_TRUE(wrong("192.0.2.1", "joe", 10));
    EXPECT_FALSE(wrong("192.0.2.1", "joe", 11));
}

TEST_F(SignInLimitTest, an_hour_of_tries_compares_no_more_than_the_limit) {
    int compared = 0;
    for (; now < start + 1h; now += 100ms) compared += wrong("192.0.2.1", "joe", compared) ? 1 : 0;
    EXPECT_LE(compared, 10 + 600);
}

TEST_F(SignInLimitTest, other_accounts_and_other_networks_are_not_affected) {
    for (int n = 0; n < 100; ++n) (void)wrong("2001:db8::1", "joe", n);

    EXPECT_FALSE(wrong("2001:db8::2", "joe", 0));  // The same network.
    EXPECT_TRUE(right("2001:db8::1", "jane"));
    EXPECT_TRUE(right("2001:db8:0:1::1", "joe"));
    EXPECT_TRUE(right("192.0.2.1", "joe"));
}

TEST_F(SignInLimitTest, right_tokens_do_not_use_the_limit_up) {
    for (int n = 0; n < 100; ++n) ASSERT_TRUE(right("192.0.2.1", "joe"));
    for (int n = 0; n < 10; ++n) EXPECT_TRUE(wrong("192.0.2.1", "joe", n));
    EXPECT_FALSE(wrong("192.0.2.1", "joe", 10));
}

TEST_F(SignInLimitTest, a_token_that_was_right_from_this_network_is_never_refused) {
    ASSERT_TRUE(right("192.0.2.1", "joe"));
    for (int n = 0; n < 100; ++n) (void)wrong("192.0.2.1", "joe", n);

    for (int n = 0; n < 100; ++n) EXPECT_TRUE(right("192.0.2.1", "joe"));
    EXPECT_FALSE(wrong("192.0.2.1", "joe", 100));
}

TEST_F(SignInLimitTest, beyond_the_limit_a_guess_is_not_compared_even_if_it_is_right) {
    ASSERT_TRUE(right("192.0.2.1", "joe"));
    for (int n = 0; n < 10; ++n) (void)wrong("192.0.2.7", "joe", n);
    EXPECT_FALSE(right("192.0.2.7", "joe"));
}

TEST_F(SignInLimitTest, a_token_that_is_right_no_more_counts_again) {
    ASSERT_TRUE(right("192.0.2.1", "joe"));
    const SignInLimit::Try removed{"192.0.2.1", "joe", "the right token"};
    int compared = 0;
    for (int n = 0; n < 100; ++n)
        if (!limit.begin(removed, now)) {
            limit.wrong(removed);
            ++compared;
        }
    EXPECT_EQ(compared, 11);
}

TEST_F(SignInLimitTest, a_flood_of_other_accounts_makes_nobody_forgotten_and_locks_nobody_out) {
    for (int n = 0; n < 10; ++n) (void)wrong("192.0.2.1", "joe", n);
    for (int n = 0; n < 20'000; ++n) (void)wrong("192.0.2.2", std::to_string(n), n);

    EXPECT_FALSE(wrong("192.0.2.1", "joe", 10));
    EXPECT_TRUE(right("198.51.100.1", "jane"));
}

}  // namespace
}  // namespace pawl
