#include "src/core/route_rule.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pawl::core::route_rule_test {
namespace {

using namespace std::chrono_literals;

const SteadyTime now{1'000s};
const BreakerRule rule{};

struct RouteRule : ::testing::Test {
    std::vector<Provider> providers{
        {.name = "a", .account = "1", .share = 3},
        {.name = "b", .account = "1", .share = 1},
        {.name = "c", .share = 0}};
    std::vector<Breaker> breakers{3};
    std::vector<std::string> refused{};
    Payment payment{2'000, "usd"};

    std::string choose(double dice) const {
        const auto chosen = choose_provider(
            {.payment = payment, .providers = providers, .breakers = breakers, .refused = refused},
            rule,
            now,
            dice
        );
        return chosen ? providers[*chosen].name : "none";
    }
    void open(std::size_t nth) {
        breakers[nth] = {.failures = 10, .openings = 1, .open_until = now + 1s};
    }
};

TEST_F(RouteRule, shares_decide) {
    EXPECT_EQ(choose(0.0), "a");
    EXPECT_EQ(choose(0.74), "a");
    EXPECT_EQ(choose(0.76), "b");
    EXPECT_EQ(choose(0.999'999), "b");
}

TEST_F(RouteRule, a_provider_that_refused_is_not_chosen_again) {
    refused = {"a 1"};
    EXPECT_EQ(choose(0.0), "b");
    refused = {"a 1", "b 1"};
    EXPECT_EQ(choose(0.5), "c");
    refused = {"a 1", "b 1", "c"};
    EXPECT_EQ(choose(0.5), "none");
}

TEST_F(RouteRule, an_account_that_refused_says_nothing_about_another_account) {
    providers[1] = {.name = "a", .account = "2"};
    refused = {"a 1"};
    EXPECT_EQ(choose(0.0), "a");
}

TEST_F(RouteRule, a_provider_that_is_down_is_chosen_only_if_all_are) {
    open(0);
    EXPECT_EQ(choose(0.0), "b");
    open(1);
    EXPECT_EQ(choose(0.0), "c");  // Its share is 0: it is for this.
    open(2);
    EXPECT_EQ(choose(0.0), "a");
    EXPECT_EQ(choose(0.9), "b");
}

TEST_F(RouteRule, a_provider_is_tried_again_after_its_breaker_s_time) {
    breakers[0] = {.failures = 10, .openings = 1, .open_until = now};
    EXPECT_EQ(choose(0.0), "a");
    breakers[0].probe_since = now - 1s;  // Another payment is its probe.
    EXPECT_EQ(choose(0.0), "b");
}

TEST_F(RouteRule, amounts_and_currencies_decide) {
    providers[0].currencies = {"eur"};
    EXPECT_EQ(choose(0.0), "b");
    providers[1].amount_max = 1'999;
    EXPECT_EQ(choose(0.0), "c");
    providers[1].amount_max = 2'000;
    EXPECT_EQ(choose(0.0), "b");
    providers[1].amount_min = 2'001;
    providers[2].amount_min = 2'001;
    EXPECT_EQ(choose(0.0), "none");
}

}  // namespace
}  // namespace pawl::core::route_rule_test
