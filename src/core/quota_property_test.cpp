#include "src/core/quota.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

// Laws over the life of a tenant: requests arrive, are admitted or refused, and end.
namespace pawl::core::quota_property_test {
namespace {

using std::chrono::milliseconds;

QuotaRule any_rule() {
    return {
        .in_flight_max = *rc::gen::inRange(0, 4),
        .account_in_flight_max = *rc::gen::inRange(0, 3),
        .token_each = milliseconds{*rc::gen::inRange(0, 3'000)},
        .burst = *rc::gen::inRange(1, 6)};
}

// A tenant of three accounts, with the times at which its requests were admitted.
struct Life {
    QuotaRule rule;
    SteadyTime now{std::chrono::hours{1}};
    TenantUse use{};
    std::vector<SteadyTime> let_in{};
    std::array<int, 3> in_flight{};  // For each account.

    Admission ask(std::size_t account) const {
        return decide_admission(rule, use, in_flight.at(account), now);
    }
    void come(std::size_t account = 0) {
        const auto admission = ask(account);
        if (const auto* after = std::get_if<TenantUse>(&admission)) {
            use = *after;
            ++in_flight.at(account);
            let_in.push_back(now);
        }
    }
    void live(int steps) {
        for (int n = 0; n < steps; ++n) {
            now += milliseconds{*rc::gen::inRange(0, 2'000)};
            end(any_account());
            come(any_account());
            RC_ASSERT(rule.in_flight_max == 0 || use.in_flight <= rule.in_flight_max);
            for (const int of_account : in_flight)
                RC_ASSERT(
                    rule.account_in_flight_max == 0 || of_account <= rule.account_in_flight_max
                );
        }
    }
    std::size_t any_account() const { return *rc::gen::inRange<std::size_t>(0, in_flight.size()); }
    void end(std::size_t account) {
        if (in_flight.at(account) == 0 || !*rc::gen::arbitrary<bool>()) return;
        --in_flight.at(account);
        --use.in_flight;
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
    const auto admission = life.ask(0);
    const auto* over = std::get_if<OverQuota>(&admission);
    if (over == nullptr || over->limit != OverQuota::Limit::rate) return;

    auto let_in_after = [&](milliseconds wait) {
        return std::holds_alternative<TenantUse>(
            decide_admission(life.rule, life.use, life.in_flight[0], life.now + wait)
        );
    };
    RC_ASSERT(let_in_after(over->retry_after));
    // No wait is a second longer than needed.
    RC_ASSERT(!let_in_after(over->retry_after - std::chrono::seconds{1}));
}

RC_GTEST_PROP(QuotaLaw, knocking_while_refused_costs_nothing, ()) {
    Life knocks{.rule = any_rule()};
    knocks.live(*rc::gen::inRange(1, 20));
    Life waits = knocks;
    const auto admission = knocks.ask(0);
    if (!std::holds_alternative<OverQuota>(admission)) return;

    for (int n = 0; n < 100; ++n) knocks.come();

    RC_ASSERT(knocks.use.in_flight == waits.use.in_flight);
    RC_ASSERT(knocks.use.full_at == waits.use.full_at);
}

// One rider's slow bookings shut out all others of the tenant (issue 16, number 8).
RC_GTEST_PROP(QuotaLaw, one_account_never_shuts_out_another_of_its_tenant, ()) {
    Life life{.rule = any_rule()};
    life.rule.token_each = {};  // The rate is per tenant: all its accounts share it.
    life.rule.in_flight_max = *rc::gen::inRange(2, 10);
    life.rule.account_in_flight_max = *rc::gen::inRange(1, life.rule.in_flight_max);

    for (int n = 0; n < *rc::gen::inRange(0, 40); ++n) life.come(0);

    RC_ASSERT(std::holds_alternative<TenantUse>(life.ask(1)));
}

RC_GTEST_PROP(QuotaLaw, who_is_forgotten_is_served_as_before, ()) {
    Life remembered{.rule = any_rule()};
    remembered.live(*rc::gen::inRange(1, 40));
    remembered.use.in_flight = 0;
    remembered.in_flight = {};
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
}  // namespace pawl::core::quota_property_test
