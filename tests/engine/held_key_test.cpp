#include "src/ops/key_acts.hpp"
#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

// An operator holds a key: nobody begins an attempt, and an attempt that runs may end.
namespace pawl::testing {
namespace {

using ops::KeyVerb;

class HeldKeyTest : public ::testing::Test, protected FirstCallHeld {
protected:
    void SetUp() override {
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
        world.add(Order{provider});
    }
    Answer ask() { return world.ask<Order>("k", order_of_jane); }
    bool act(KeyVerb verb) {
        const auto id = world.number("SELECT max(id) FROM pawl_key_registry");
        return store::write_now(world.store, [&](store::Session& session) {
            return ops::act_on_key(session, verb, id, {.by = "ann", .reason = "which card?"});
        });
    }

    Provider provider;
    World world;
};

TEST_F(HeldKeyTest, a_repeat_is_told_to_come_later_and_calls_nobody) {
    provider.next({Does::retry});
    ASSERT_EQ(why_of(ask()), Reason::provider_unavailable);
    ASSERT_TRUE(act(KeyVerb::hold));
    const auto calls = provider.keys.size();

    const auto answer = ask();

    EXPECT_EQ(why_of(answer), Reason::on_hold);
    EXPECT_EQ(std::get<Rejection>(answer).retry_after, 30s);
    EXPECT_EQ(provider.keys.size(), calls);
    ASSERT_TRUE(act(KeyVerb::release));
    EXPECT_EQ(status_of(ask()), 201);
}

TEST_F(HeldKeyTest, the_completer_leaves_it_and_counts_no_failure) {
    provider.next({Does::retry});
    ASSERT_EQ(why_of(ask()), Reason::provider_unavailable);
    ASSERT_TRUE(act(KeyVerb::hold));
    world.clock.advance(1h);

    const auto report = world.complete();

    EXPECT_EQ(report.completed + report.failed + report.to_person + report.stranded, 0);
    EXPECT_EQ(world.number("SELECT completer_runs FROM pawl_idempotency_keys"), 0);
    ASSERT_TRUE(act(KeyVerb::release));
    EXPECT_EQ(world.complete().completed, 1);
}

// Between the completer's query and its claim.
TEST_F(HeldKeyTest, a_key_that_is_held_just_before_its_claim_is_not_claimed) {
    provider.next({Does::retry});
    ASSERT_EQ(why_of(ask()), Reason::provider_unavailable);
    world.clock.advance(1h);
    core::on_fault_point([&](std::string_view point) {
        if (point == "engine.claim.before") act(KeyVerb::hold);
    });

    const auto report = world.complete();
    core::on_fault_point(nullptr);

    EXPECT_EQ(report.completed + report.failed + report.to_person, 0);
    EXPECT_EQ(world.number("SELECT attempt FROM pawl_idempotency_keys"), 1);
    EXPECT_EQ(why_of(ask()), Reason::on_hold);
}

TEST_F(HeldKeyTest, an_attempt_that_runs_finishes_the_request_and_its_repeat_is_answered) {
    hold_first_call(provider);
    auto first = world.send<Order>("k", order_of_jane);
    at_call.wait();
    ASSERT_TRUE(act(KeyVerb::hold));
    let_go.open();

    EXPECT_EQ(status_of(World::get(std::move(first))), 201);
    EXPECT_EQ(status_of(ask()), 201);
    EXPECT_EQ(world.number("SELECT count(*) FROM pawl_idempotency_keys WHERE held_at IS NULL"), 1);
}

}  // namespace
}  // namespace pawl::testing
