#include "src/core/quota.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

// Laws over any life of a tenant: requests that come, are let in or refused, and end.
namespace pawl::core {
namespace {

using std::chrono::milliseconds;

QuotaRule any_rule() {
    return {
        .in_hand_max = *rc::gen::inRange(0, 4),
        .token_each = milliseconds{*rc::gen::inRange(0, 3'000)},
        .burst = *rc::gen::inRange(1, 6)};
}

// A tenant, and when each of its requests was let in.
struct Life {
    QuotaRule rule;
    SteadyTime now{std::chrono::hours{1}};
    TenantUse use{};
    std::vector<SteadyTime> let_in{};

    void come() {
        const auto admission = decide_admission(rule, use, now);
        if (const auto* after = std::get_if<TenantUse>(&admission)) {
            use = *after;
            let_in.push_back(now);
        }
    }
    void live(int steps) {
        for (int n = 0; n < steps; ++n) {
            now += milliseconds{*rc::gen::inRange(0, 2'000)};
            if (use.in_hand > 0 && *rc::gen::arbitrary<bool>()) --use.in_hand;
            come();
            RC_ASSERT(rule.in_hand_max == 0 || use.in_hand <= rule.in_hand_max);
        }
    }
};

RC_GTEST_PROP(QuotaLaw, no_span_of_time_lets_in_more_than_the_burst_and_its_tokens, ()) {
    Life life{.rule = any_rule()};
    life.live(*rc::gen::inRange(1, 40));

    if (life.rule.token_each.count() == 0) return;
    for (auto from = life.let_in.begin(); from != life.let_in.end(); ++from)
        for (auto to = from; to != life.let_in.end(); ++to)
            RC_ASSERT(to - from + 1 <= life.rule.burst + (*to - *from) / life.rule.token_each);
}

RC_GTEST_PROP(QuotaLaw, whoever_waits_as_long_as_it_was_told_is_let_in, ()) {
    Life life{.rule = any_rule()};
    life.live(*rc::gen::inRange(1, 40));
    const auto admission = decide_admission(life.rule, life.use, life.now);
    const auto* over = std::get_if<OverQuota>(&admission);
    if (over == nullptr || over->limit != OverQuota::Limit::rate) return;

    auto let_in_after = [&](milliseconds wait) {
        return std::holds_alternative<TenantUse>(
            decide_admission(life.rule, life.use, life.now + wait)
        );
    };
    RC_ASSERT(let_in_after(over->retry_after));
    // Nobody is told to wait a second more than that.
    RC_ASSERT(!let_in_after(over->retry_after - std::chrono::seconds{1}));
}

RC_GTEST_PROP(QuotaLaw, knocking_while_refused_costs_nothing, ()) {
    Life knocks{.rule = any_rule()};
    knocks.live(*rc::gen::inRange(1, 20));
    Life waits = knocks;
    const auto admission = decide_admission(knocks.rule, knocks.use, knocks.now);
    if (!std::holds_alternative<OverQuota>(admission)) return;

    for (int n = 0; n < 100; ++n) knocks.come();

    RC_ASSERT(knocks.use.in_hand == waits.use.in_hand);
    RC_ASSERT(knocks.use.full_at == waits.use.full_at);
}

RC_GTEST_PROP(QuotaLaw, who_is_forgotten_is_served_as_before, ()) {
    Life remembered{.rule = any_rule()};
    remembered.live(*rc::gen::inRange(1, 40));
    remembered.use.in_hand = 0;
    remembered.now =
        std::max(remembered.now, remembered.use.full_at) + milliseconds{*rc::gen::inRange(0, 10)};
    RC_ASSERT(is_forgettable(remembered.use, remembered.now));
    Life forgotten{.rule = remembered.rule, .now = remembered.now};
    const auto before = remembered.let_in.size();

    for (int n = 0; n < *rc::gen::inRange(1, 20); ++n) {
        remembered.come();
        forgotten.come();
        remembered.now += milliseconds{500};
        forgotten.now = remembered.now;
    }

    RC_ASSERT(remembered.let_in.size() - before == forgotten.let_in.size());
}

}  // namespace
}  // namespace pawl::core
