#include "src/core/quota.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pawl::core::quota_test {
namespace {

using namespace std::chrono_literals;

const SteadyTime now{1'000s};

const char* limit_text(OverQuota::Limit limit) {
    if (limit == OverQuota::Limit::account_in_flight) return "account";
    return limit == OverQuota::Limit::rate ? "rate" : "in flight";
}

std::string text_of(const Admission& admission) {
    if (const auto* over = std::get_if<OverQuota>(&admission))
        return std::string{limit_text(over->limit)} + ", " +
               std::to_string(over->retry_after.count()) + " s";
    const auto& after = std::get<TenantUse>(admission);
    return "in, " + std::to_string(after.in_flight) + " in flight, full in " +
           std::to_string((after.full_at - now) / 1ms) + " ms";
}

TEST(DecideAdmission, follows_the_table) {
    const QuotaRule two_an_account{.in_flight_max = 3, .account_in_flight_max = 2};
    const QuotaRule ten_a_second{.in_flight_max = 3, .token_each = 100ms, .burst = 5};
    struct Case {
        std::string name;
        QuotaRule rule;
        TenantUse use;
        std::string admission;
        int account_in_flight{};
    };
    const std::vector<Case> cases{
        {"the first", ten_a_second, {}, "in, 1 in flight, full in 100 ms"},
        {"after a long pause the bucket is full and no fuller",
         ten_a_second,
         {1, now - 1h},
         "in, 2 in flight, full in 100 ms"},
        {"the last token of a burst",
         ten_a_second,
         {0, now + 400ms},
         "in, 1 in flight, full in 500 ms"},
        {"none is left", ten_a_second, {0, now + 401ms}, "rate, 1 s"},
        {"the next is due in 1,001 ms: two whole seconds, never early",
         ten_a_second,
         {0, now + 1401ms},
         "rate, 2 s"},
        {"as many in flight as may be", ten_a_second, {3, now}, "in flight, 1 s"},
        {"one fewer", ten_a_second, {2, now}, "in, 3 in flight, full in 100 ms"},
        {"what is in flight is looked at first", ten_a_second, {3, now + 1h}, "in flight, 1 s"},
        {"no limit in flight",
         {.token_each = 100ms},
         {70'000, now},
         "in, 70001 in flight, full in 100 ms"},
        {"no rate", {.in_flight_max = 3}, {2, now}, "in, 3 in flight, full in 0 ms"},
        {"a burst of one", {.token_each = 2s, .burst = 1}, {0, now + 1ms}, "rate, 1 s"},
        {"an account with all it may have", two_an_account, {2, now}, "account, 1 s", 2},
        {"another account of its tenant",
         two_an_account,
         {2, now},
         "in, 3 in flight, full in 0 ms"},
        {"the tenant is full before the account is", two_an_account, {3, now}, "in flight, 1 s", 1},
        {"both are full: the account is named", two_an_account, {3, now}, "account, 1 s", 2},
        {"no limit of accounts",
         {.in_flight_max = 3},
         {2, now},
         "in, 3 in flight, full in 0 ms",
         2},
        {"one each hour", {.token_each = 1h, .burst = 1}, {0, now + 1h}, "rate, 3600 s"},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.name);
        EXPECT_EQ(text_of(decide_admission(c.rule, c.use, c.account_in_flight, now)), c.admission);
    }
}

TEST(IsForgettable, a_tenant_without_requests_and_with_all_tokens_is_forgettable) {
    EXPECT_TRUE(is_forgettable({}, now));
    EXPECT_TRUE(is_forgettable({0, now}, now));
    EXPECT_FALSE(is_forgettable({0, now + 1ns}, now));
    EXPECT_FALSE(is_forgettable({1, now - 1h}, now));
}

}  // namespace
}  // namespace pawl::core::quota_test
