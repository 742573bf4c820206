#include "src/http/http_options.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace pawl {
namespace {

using namespace std::chrono_literals;

HttpOptions with(TenantQuota quota) {
    HttpOptions options;
    options.authenticate = [](const RequestHead&) { return std::optional<Principal>{}; };
    options.quota = quota;
    return options;
}

TEST(TenantQuota, names_the_setting_that_is_wrong) {
    struct Case {
        TenantQuota quota;
        std::optional<std::string> problem;
    };
    const Case cases[] = {
        {{}, std::nullopt},
        {{.in_hand_max = 0}, std::nullopt},
        {{.in_hand_max = 1, .rate_per_s = 0.001, .burst = 1}, std::nullopt},
        {{.in_hand_max = -1}, "quota.in_hand_max is -1: at least 1, or 0 for no limit"},
        {{.rate_per_s = -1}, "quota.rate_per_s is -1.000000: 0.001 to 1000000, or 0 for no limit"},
        {{.rate_per_s = 2e6},
         "quota.rate_per_s is 2000000.000000: 0.001 to 1000000, or 0 for no limit"},
        {{.rate_per_s = std::numeric_limits<double>::quiet_NaN()},
         "quota.rate_per_s is nan: 0.001 to 1000000, or 0 for no limit"},
        {{.burst = 5},
         "quota.burst is 5, and rate_per_s is not set: it says how fast they may follow"},
        {{.rate_per_s = 1, .burst = 0}, "quota.burst is 0: 1 to 1000000"},
    };
    for (const auto& c : cases) EXPECT_EQ(with(c.quota).problem(), c.problem);
    EXPECT_THROW(http::checked(with({.in_hand_max = -1})), std::invalid_argument);
}

TEST(QuotaRule, by_default_one_tenant_has_half_of_the_calls_and_no_rate) {
    const auto rule = http::quota_rule(with({}), 1'024);

    EXPECT_EQ(rule.in_hand_max, 512);
    EXPECT_EQ(rule.token_each, 0ns);
    EXPECT_EQ(http::quota_rule(with({}), 4).in_hand_max, 16);
    EXPECT_EQ(http::quota_rule(with({.in_hand_max = 0}), 1'024).in_hand_max, 0);
    EXPECT_EQ(http::quota_rule(with({.in_hand_max = 3}), 1'024).in_hand_max, 3);
}

TEST(QuotaRule, whoever_is_alone_has_no_limit_by_default) {
    EXPECT_EQ(http::quota_rule({.anonymous = true}, 1'024).in_hand_max, 0);
}

TEST(QuotaRule, a_rate_is_never_rounded_up_and_its_burst_is_of_a_second) {
    EXPECT_EQ(http::quota_rule(with({.rate_per_s = 3}), 1).token_each, 333'333'334ns);
    EXPECT_EQ(http::quota_rule(with({.rate_per_s = 3}), 1).burst, 3);
    EXPECT_EQ(http::quota_rule(with({.rate_per_s = 0.5}), 1).token_each, 2s);
    EXPECT_EQ(http::quota_rule(with({.rate_per_s = 0.5}), 1).burst, 1);
    EXPECT_EQ(http::quota_rule(with({.rate_per_s = 0.5, .burst = 9}), 1).burst, 9);
}

}  // namespace
}  // namespace pawl
