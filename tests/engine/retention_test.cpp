#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

#include <set>
#include <stop_token>

namespace pawl::testing {
namespace {

// How long keys are kept, and what a repeat gets afterwards.

class KeptOrder : public Order {
public:
    static constexpr std::string_view name = "kept_order";
    static constexpr Settings settings{.keep = for_ever};
    using Order::Order;
};

class RepeatableOrder : public OrderSteps {
public:
    static constexpr std::string_view name = "repeatable_order";
    static constexpr Settings settings{.re_execute = true};
    using OrderSteps::OrderSteps;
    Finish answer(Tx&, const Charged& at) {
        Response response = pawl::respond(201, at);
        response.headers = {{"location", "/orders/1"}, {"X-Other", "not stored"}};
        return pawl::answer(response);
    }
    using Flow = Steps<
        Atomic<&RepeatableOrder::write_order>,
        Foreign<
            Repeat::safe_with_key,
            &RepeatableOrder::charge,
            &RepeatableOrder::keep_payment,
            &RepeatableOrder::keep_refusal>,
        Atomic<&RepeatableOrder::answer>>;
};

// All accounts of the tenant share its key.
class TenantOrder : public Order {
public:
    static constexpr std::string_view name = "tenant_order";
    static constexpr Settings settings{.scope = Scope::tenant};
    using Order::Order;
};

class RetentionTest : public ::testing::Test {
protected:
    void SetUp() override {
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
        world.add(Order{provider});
        world.add(KeptOrder{provider});
        world.add(RepeatableOrder{provider});
        world.add(TenantOrder{provider});
    }
    ops::ReaperReport reap() {
        return ops::Reaper{world.store, world.clock, {}}.run_once(world.clock.now());
    }
    Provider provider;
    World world;
};

TEST_F(RetentionTest, a_key_that_is_kept_forever_never_expires) {
    const auto first = world.ask<KeptOrder>("k", order_of_jane);
    EXPECT_EQ(std::get<StoredResponse>(first).expires_at, std::nullopt);
    world.clock.advance(std::chrono::hours{24 * 3650});

    EXPECT_EQ(reap().reaped, 0);

    EXPECT_EQ(body_of(world.ask<KeptOrder>("k", order_of_jane)), body_of(first));
    EXPECT_EQ(provider.keys.size(), 1U);
}

TEST_F(RetentionTest, a_key_lives_to_the_moment_that_its_answer_names) {
    const auto first = world.ask<Order>("k", order_of_jane);
    const auto expires_at = std::get<StoredResponse>(first).expires_at;
    ASSERT_EQ(expires_at, world.clock.now() + 72h);
    world.clock.set(*expires_at - 1ms);
    EXPECT_EQ(reap().reaped, 0);
    EXPECT_TRUE(replayed(world.ask<Order>("k", order_of_jane)));
    world.clock.set(*expires_at);

    EXPECT_EQ(reap().reaped, 1);

    EXPECT_EQ(why_of(world.ask<Order>("k", order_of_jane)), Reason::key_expired);
}

// history_check.py, C1: the first answer had a time that was read after the commit, on PostgreSQL
// even by another clock.
TEST_F(RetentionTest, the_first_answer_names_the_same_moment_as_its_repeats) {
    core::on_fault_point([&](std::string_view point) {
        if (point == "sqlite.commit.after") world.clock.advance(1s);
    });
    const auto first = world.ask<Order>("k", order_of_jane);
    core::on_fault_point(nullptr);

    const auto again = world.ask<Order>("k", order_of_jane);

    EXPECT_EQ(
        std::get<StoredResponse>(first).expires_at, std::get<StoredResponse>(again).expires_at
    );
}

TEST_F(RetentionTest, an_operation_that_says_so_runs_again_under_an_expired_key_and_charges_anew) {
    EXPECT_EQ(status_of(world.ask<RepeatableOrder>("k", order_of_jane)), 201);
    world.clock.advance(72h);
    EXPECT_EQ(reap().reaped, 1);

    const auto again = world.ask<RepeatableOrder>("k", order_of_jane);

    EXPECT_EQ(status_of(again), 201);
    EXPECT_FALSE(replayed(again));
    ASSERT_EQ(provider.keys.size(), 2U);
    EXPECT_NE(provider.keys[0], provider.keys[1]);
    EXPECT_EQ(
        world.count("orders"), 2
    );  // Under another key id: the old row is not mistaken for it.
    EXPECT_TRUE(replayed(world.ask<RepeatableOrder>("k", order_of_jane)));
    EXPECT_EQ(
        status_of(world.ask<Order>("new", order_of_jane)), 201
    );  // Nor is the new id given again.
}

TEST_F(RetentionTest, a_second_execution_in_doubt_resumes_under_its_own_key) {
    (void)world.ask<RepeatableOrder>("k", order_of_jane);
    world.clock.advance(72h);
    (void)reap();
    provider.next({Does::doubt_charged});
    EXPECT_EQ(why_of(world.ask<RepeatableOrder>("k", order_of_jane)), Reason::provider_unavailable);

    EXPECT_EQ(status_of(world.ask_until_settled<RepeatableOrder>("k", order_of_jane)), 201);

    ASSERT_EQ(provider.keys.size(), 3U);
    EXPECT_EQ(provider.keys[1], provider.keys[2]);
    EXPECT_EQ(provider.charges.size(), 2U);
}

TEST_F(RetentionTest, a_late_repeat_gets_the_location_of_what_was_created) {
    const auto first = world.ask<RepeatableOrder>("k", order_of_jane);
    ASSERT_EQ(std::get<StoredResponse>(first).response.headers.size(), 1U);
    world.clock.advance(72h);

    EXPECT_EQ(reap().reaped, 1);

    EXPECT_EQ(world.text("SELECT location FROM pawl_key_registry"), "/orders/1");
    EXPECT_EQ(world.number("SELECT outcome FROM pawl_key_registry"), 201);
}

// An application put a foreign key onto our rows, against the advice of the docs: those rows stay,
// others are removed.
TEST_F(RetentionTest, a_key_that_cannot_be_removed_is_counted_and_blocks_no_other) {
    world.execute(
        "CREATE TABLE held (key_id INTEGER NOT NULL REFERENCES pawl_idempotency_keys (id)) STRICT"
    );
    (void)world.ask<Order>("held", order_of_jane);
    world.execute("INSERT INTO held SELECT id FROM pawl_idempotency_keys");
    (void)world.ask<Order>("free", order_of_jane);
    world.clock.advance(72h);
    ops::Reaper reaper{world.store, world.clock, {.batch_max = 1}};

    ops::ReaperReport report;
    for (int i = 0; i < 3; ++i) {
        const auto round = reaper.run_once(world.clock.now());
        report.reaped += round.reaped;
        report.not_removed += round.not_removed;
    }

    EXPECT_EQ(report.reaped, 1);
    EXPECT_GE(report.not_removed, 1);
    EXPECT_TRUE(replayed(world.ask<Order>("held", order_of_jane)));
    EXPECT_EQ(why_of(world.ask<Order>("free", order_of_jane)), Reason::key_expired);
}

// A stopping server does not wait until the reaper has tried all that it can't remove.
TEST_F(RetentionTest, the_reaper_stops_after_a_transaction) {
    world.execute(
        "CREATE TABLE held (key_id INTEGER NOT NULL REFERENCES pawl_idempotency_keys (id)) STRICT"
    );
    for (const auto* key : {"a", "b", "c"}) (void)world.ask<Order>(key, order_of_jane);
    world.execute("INSERT INTO held SELECT id FROM pawl_idempotency_keys");
    world.clock.advance(72h);
    std::stop_source stop;
    core::on_fault_point([&](std::string_view point) {
        if (point == "sqlite.commit.after") stop.request_stop();
    });
    world.store.arm(0, FailingStore::How::refused);

    ops::Reaper{world.store, world.clock, {.batch_max = 1}}.run(stop.get_token());
    core::on_fault_point(nullptr);

    EXPECT_EQ(world.store.writes(), 1);
}

TEST_F(RetentionTest, a_failed_commit_of_the_reaper_leaves_the_key_or_its_expiry) {
    for (const auto how :
         {FailingStore::How::refused, FailingStore::How::undone, FailingStore::How::in_doubt}) {
        const auto key = "k" + std::to_string(static_cast<int>(how));
        (void)world.ask<Order>(key, order_of_jane);
        world.clock.advance(72h);
        world.store.arm(1, how);
        EXPECT_THROW((void)reap(), StoreError);

        const auto answer = world.ask<Order>(key, order_of_jane);

        EXPECT_TRUE(replayed(answer) || why_of(answer) == Reason::key_expired);
        (void)reap();
        EXPECT_EQ(why_of(world.ask<Order>(key, order_of_jane)), Reason::key_expired);
    }
    EXPECT_EQ(provider.keys.size(), 3U);
}

TEST_F(RetentionTest, a_key_of_the_tenant_is_one_for_all_its_accounts) {
    const auto first = world.ask<TenantOrder>("refund-1", order_of_jane, "jane");
    const auto second = world.ask<TenantOrder>("refund-1", order_of_jane, "joe");

    EXPECT_TRUE(replayed(second));
    EXPECT_EQ(body_of(second), body_of(first));
    EXPECT_EQ(provider.keys.size(), 1U);
}

// The completer finds keys with leases in the far future, written by a wrong clock, as a claim
// does.
TEST_F(RetentionTest, a_dropped_key_with_a_lease_in_the_far_future_is_completed) {
    provider.next({Does::doubt_charged});
    (void)world.ask<Order>("k", order_of_jane);
    world.execute("UPDATE pawl_idempotency_keys SET lease_until = '2099-01-01T00:00:00.000Z'");
    world.clock.advance(1min);

    EXPECT_EQ(world.complete().completed, 1);

    EXPECT_EQ(provider.charges.size(), 1U);
}

// A settlement's generation outlives its row: otherwise the re-execution would use the settled
// call's key again, and the provider would answer with the old charge (the mutant GENERATION_LOST
// of the model).
TEST_F(RetentionTest, a_re_execution_after_a_settlement_has_a_foreign_key_of_its_own) {
    provider.next({Does::stuck});
    (void)world.ask<RepeatableOrder>("k", order_of_jane);
    std::promise<Answer> settled;
    world.engine->settle(
        {.key_id = world.number("SELECT key_id FROM pawl_attention"),
         .attempt = static_cast<int>(world.number("SELECT attempt FROM pawl_attention")),
         .recovery_point = "ordered",
         .kind = engine::Settlement::Kind::did_not_happen,
         .result_name = {},
         .result = {},
         .by = "ann"},
        [&](Answer answer) { settled.set_value(std::move(answer)); }
    );
    ASSERT_EQ(status_of(World::get(settled.get_future())), 201);
    world.clock.advance(72h);
    (void)reap();

    EXPECT_EQ(status_of(world.ask<RepeatableOrder>("k", order_of_jane)), 201);

    ASSERT_EQ(provider.keys.size(), 3U);
    EXPECT_EQ(std::set<std::string>(provider.keys.begin(), provider.keys.end()).size(), 3U);
}

// Between the query and the transaction the registry row may be deleted: then the request is new.
TEST_F(RetentionTest, a_key_that_is_forgotten_while_it_is_claimed_is_a_new_request) {
    (void)world.ask<RepeatableOrder>("k", order_of_jane);
    world.clock.advance(72h);
    (void)reap();
    bool once = true;
    core::on_fault_point([&](std::string_view point) {
        if (point != "engine.claim.before" || !std::exchange(once, false)) return;
        world.execute("DELETE FROM pawl_key_registry");
    });

    const auto answer = world.ask<RepeatableOrder>("k", order_of_jane);
    core::on_fault_point(nullptr);

    EXPECT_FALSE(replayed(answer));
    EXPECT_EQ(world.count("orders"), 2);
    EXPECT_EQ(world.count("pawl_key_registry WHERE state = 'live'"), 1);
}

}  // namespace
}  // namespace pawl::testing
