#include "src/http/quotas.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace pawl::http {
namespace {

using namespace std::chrono_literals;
using Limit = core::OverQuota::Limit;

const core::SteadyTime now{1'000s};

Quotas::Place place_of(std::variant<Quotas::Place, Quotas::Rejection> entered) {
    return std::move(std::get<Quotas::Place>(entered));
}
std::optional<Quotas::Rejection> refused_of(std::variant<Quotas::Place, Quotas::Rejection> entered
) {
    if (auto* refused = std::get_if<Quotas::Rejection>(&entered)) return *refused;
    return std::nullopt;
}

TEST(Quotas, one_tenant_over_its_quota_does_not_limit_another) {
    Quotas quotas{{.in_flight_max = 2}};
    const auto first = place_of(quotas.enter("acme", "", now));
    const auto second = place_of(quotas.enter("acme", "", now));

    const auto third = refused_of(quotas.enter("acme", "", now));
    const auto other = place_of(quotas.enter("other", "", now));

    ASSERT_TRUE(third);
    EXPECT_EQ(third->why.limit, Limit::in_flight);
    EXPECT_EQ(third->why.retry_after, 1s);
}

TEST(Quotas, a_place_is_freed_exactly_once) {
    Quotas quotas{{.in_flight_max = 1}};
    {
        auto place = place_of(quotas.enter("acme", "", now));
        auto moved = std::move(place);
        EXPECT_TRUE(refused_of(quotas.enter("acme", "", now)));
        moved.leave();
        moved.leave();  // A second leave() would free two.
    }
    const auto again = place_of(quotas.enter("acme", "", now));

    EXPECT_TRUE(refused_of(quotas.enter("acme", "", now)));
}

TEST(Quotas, idle_tenants_are_forgotten_and_busy_ones_are_not) {
    Quotas quotas{{.token_each = 10s, .burst = 1}};
    { const auto idle_soon = place_of(quotas.enter("idle", "", now)); }
    const auto busy = place_of(quotas.enter("busy", "", now));
    ASSERT_EQ(quotas.remembered(), 2U);

    // Each part removes idle tenants at its next lookup.
    for (int n = 0; n < 1'000; ++n) (void)quotas.enter("t" + std::to_string(n), "", now + 11s);
    for (int n = 0; n < 1'000; ++n) (void)quotas.enter("t" + std::to_string(n), "", now + 22s);
    EXPECT_LE(quotas.remembered(), 1'001U);
    for (int n = 0; n < 1'000; ++n)
        (void)refused_of(quotas.enter("u" + std::to_string(n), "", now + 33s));

    // The newest thousand, and those with requests in flight.
    EXPECT_EQ(quotas.remembered(), 1'001U);
}

TEST(Quotas, tenants_beyond_the_maximum_share_one_entry) {
    Quotas quotas{{.in_flight_max = 1}, 32};
    std::vector<Quotas::Place> places;
    int refused = 0;

    for (int n = 0; n < 10'000; ++n) {
        auto entered = quotas.enter("tenant-" + std::to_string(n), "", now);
        if (auto* place = std::get_if<Quotas::Place>(&entered))
            places.push_back(std::move(*place));
        else
            ++refused;
    }

    EXPECT_EQ(quotas.remembered(), 32U);
    // One more in each part: the shared one of all other tenants.
    EXPECT_EQ(places.size(), 32U + 16U);
    EXPECT_EQ(refused, 10'000 - 48);
    places.clear();
    const auto later = place_of(quotas.enter("tenant-9999", "", now + 2s));
}

TEST(Quotas, a_flood_is_reported_once_a_minute_with_its_size) {
    Quotas quotas{{.in_flight_max = 1}};
    const auto place = place_of(quotas.enter("acme", "", now));

    EXPECT_EQ(refused_of(quotas.enter("acme", "", now))->refused_since_log, 1U);
    for (int n = 0; n < 100; ++n)
        EXPECT_EQ(refused_of(quotas.enter("acme", "", now + 59s))->refused_since_log, 0U);
    EXPECT_EQ(refused_of(quotas.enter("acme", "", now + 60s))->refused_since_log, 101U);
    EXPECT_EQ(refused_of(quotas.enter("acme", "", now + 61s))->refused_since_log, 0U);
}

// Otherwise a tenant that pauses for a moment would be reported again and again.
TEST(Quotas, a_reported_tenant_is_remembered_for_a_minute) {
    Quotas quotas{{.in_flight_max = 1}};
    {
        const auto place = place_of(quotas.enter("acme", "", now));
        EXPECT_EQ(refused_of(quotas.enter("acme", "", now))->refused_since_log, 1U);
    }
    const auto place = place_of(quotas.enter("acme", "", now + 30s));

    EXPECT_EQ(refused_of(quotas.enter("acme", "", now + 30s))->refused_since_log, 0U);
}

TEST(Quotas, one_account_at_its_limit_does_not_limit_another_of_its_tenant) {
    Quotas quotas{{.in_flight_max = 4, .account_in_flight_max = 2}};
    const auto first = place_of(quotas.enter("acme", "jane", now));
    auto second = place_of(quotas.enter("acme", "jane", now));

    const auto third = refused_of(quotas.enter("acme", "jane", now));
    const auto other = place_of(quotas.enter("acme", "joe", now));
    const auto namesake = place_of(quotas.enter("other", "jane", now));

    ASSERT_TRUE(third);
    EXPECT_EQ(third->why.limit, Limit::account_in_flight);
    EXPECT_EQ(third->refused_since_log, 1U);
    EXPECT_EQ(refused_of(quotas.enter("acme", "jane", now))->refused_since_log, 0U);
    second.leave();
    const auto again = place_of(quotas.enter("acme", "jane", now));
}

TEST(Quotas, all_accounts_of_a_tenant_together_are_limited_by_the_tenant) {
    Quotas quotas{{.in_flight_max = 3, .account_in_flight_max = 2}};
    std::vector<Quotas::Place> places;
    for (const auto* account : {"jane", "jane", "joe"})
        places.push_back(place_of(quotas.enter("acme", account, now)));

    EXPECT_EQ(refused_of(quotas.enter("acme", "eve", now))->why.limit, Limit::in_flight);
}

TEST(Quotas, an_account_is_forgotten_when_its_last_request_ends) {
    Quotas quotas{{.in_flight_max = 4, .account_in_flight_max = 2}};
    for (int n = 0; n < 1'000; ++n)
        (void)place_of(quotas.enter("acme", "account-" + std::to_string(n), now));
    EXPECT_EQ(quotas.remembered_accounts(), 0U);

    const auto held = place_of(quotas.enter("acme", "jane", now));
    EXPECT_EQ(quotas.remembered_accounts(), 1U);
}

TEST(Quotas, accounts_beyond_the_maximum_share_one_entry_within_their_tenant) {
    Quotas quotas{{.account_in_flight_max = 1}};
    std::vector<Quotas::Place> places;
    int refused = 0;

    for (std::size_t n = 0; n < Quotas::accounts_max + 100; ++n) {
        auto entered = quotas.enter("acme", "account-" + std::to_string(n), now);
        if (auto* place = std::get_if<Quotas::Place>(&entered))
            places.push_back(std::move(*place));
        else
            ++refused;
    }
    const auto other = place_of(quotas.enter("other", "account", now));

    EXPECT_EQ(quotas.remembered_accounts(), Quotas::accounts_max + 1);
    EXPECT_EQ(refused, 99);
    places.clear();
    EXPECT_EQ(quotas.remembered_accounts(), 1U);
}

TEST(Quotas, many_threads_never_exceed_the_limit_together) {
    Quotas quotas{{.in_flight_max = 3}};
    std::atomic<int> in_flight{0};
    std::atomic<int> most{0};
    std::atomic<int> admit{0};
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&] {
                for (int n = 0; n < 20'000; ++n) {
                    auto entered = quotas.enter("acme", "", now);
                    if (std::holds_alternative<Quotas::Rejection>(entered)) continue;
                    ++admit;
                    const int at_once = ++in_flight;
                    int seen = most;
                    while (at_once > seen && !most.compare_exchange_weak(seen, at_once)) continue;
                    --in_flight;
                }
            });
    }

    EXPECT_LE(most, 3);
    EXPECT_GT(admit, 1'000);
    auto all = std::vector<Quotas::Place>{};
    for (int n = 0; n < 3; ++n) all.push_back(place_of(quotas.enter("acme", "", now)));
    EXPECT_TRUE(refused_of(quotas.enter("acme", "", now)));
}

}  // namespace
}  // namespace pawl::http
