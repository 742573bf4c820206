#include "src/ops/key_acts.hpp"
#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

// A bad deploy: the keeper fails at the result of a call. The result is stored, the key stays open,
// and a later attempt records it without another call (issue 38, part 4).
namespace pawl::testing::unrecorded_result_test {
namespace {

class BuggyOrder : public OrderSteps {
public:
    static constexpr std::string_view name = "buggy_order";
    BuggyOrder(Provider& provider, std::atomic<bool>& bug) : OrderSteps{provider}, bug_{&bug} {}
    Next<Charged> keep(Tx& tx, const Ordered& at, const Paid& paid) {
        if (*bug_) throw std::runtime_error{"a bug in the keeper" + not_utf8};
        return keep_payment(tx, at, paid);
    }
    using Flow = Steps<
        Atomic<&BuggyOrder::write_order>,
        Foreign<
            Repeat::never,
            &BuggyOrder::charge_once,
            &BuggyOrder::keep,
            &BuggyOrder::keep_refusal>,
        Atomic<&BuggyOrder::finish>>;

private:
    std::atomic<bool>* bug_;
};

class KeyedBuggyOrder : public BuggyOrder {
public:
    static constexpr std::string_view name = "keyed_buggy_order";
    using BuggyOrder::BuggyOrder;
    using Flow = Steps<
        Atomic<&KeyedBuggyOrder::write_order>,
        Foreign<
            Repeat::safe_with_key,
            &KeyedBuggyOrder::charge,
            &KeyedBuggyOrder::keep,
            &KeyedBuggyOrder::keep_refusal>,
        Atomic<&KeyedBuggyOrder::finish>>;
};

class UnrecordedResultTest : public ::testing::Test {
protected:
    void SetUp() override {
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
        add_operations();
    }
    void add_operations() {
        world.add(BuggyOrder{provider, bug});
        world.add(KeyedBuggyOrder{provider, bug});
    }
    Answer ask_keyed() { return world.ask<KeyedBuggyOrder>("k", order_of_jane); }
    Answer ask_once() { return world.ask<BuggyOrder>("k", order_of_jane); }
    bool act(ops::KeyVerb verb) {
        const auto id = world.number("SELECT max(id) FROM pawl_key_registry");
        return store::write_now(world.store, [&](store::Session& session) {
            return ops::act_on_key(session, verb, id, {.by = "ann", .reason = "why"});
        });
    }

    Provider provider;
    std::atomic<bool> bug{true};
    World world;
};

TEST_F(UnrecordedResultTest, is_stored_with_an_open_key_and_its_client_may_repeat) {
    const auto first = ask_keyed();

    EXPECT_EQ(why_of(first), Reason::not_recorded);
    EXPECT_TRUE(engine::may_succeed_later(Reason::not_recorded));
    EXPECT_EQ(
        world.text("SELECT status || ' ' || coalesce(lease_until, 'free') "
                   "FROM pawl_idempotency_keys"),
        "open free"
    );
    EXPECT_EQ(
        world.text("SELECT result_name || ' ' || error FROM pawl_unrecorded_results"),
        "Paid PAWL0019: the result could not be kept: a bug in the keeper?"
    );
    EXPECT_EQ(world.count("pawl_attention"), 0);
}

TEST_F(UnrecordedResultTest, is_recorded_by_the_clients_repeat_after_the_fix_without_a_call) {
    for (const auto repeat : {Repeat::never, Repeat::safe_with_key}) {
        SCOPED_TRACE(int(repeat));
        const auto ask = [&] { return repeat == Repeat::never ? ask_once() : ask_keyed(); };
        bug = true;
        EXPECT_EQ(why_of(ask()), Reason::not_recorded);
        EXPECT_EQ(why_of(ask()), Reason::not_recorded);
        EXPECT_EQ(world.number("SELECT tries FROM pawl_unrecorded_results"), 2);
        const auto calls = provider.keys.size();
        bug = false;

        EXPECT_EQ(status_of(ask()), 201);

        EXPECT_EQ(provider.keys.size(), calls);
        EXPECT_EQ(world.count("pawl_unrecorded_results"), 0);
        world.execute("DELETE FROM pawl_idempotency_keys");
        world.execute("DELETE FROM pawl_key_registry");
    }
}

TEST_F(UnrecordedResultTest, is_tried_by_the_completer_for_ever_and_never_comes_to_a_person) {
    (void)ask_once();
    for (int i = 0; i < 200; ++i) {
        world.clock.advance(2h);
        EXPECT_EQ(world.complete().failed, 1);
    }
    EXPECT_EQ(world.count("pawl_attention"), 0);
    EXPECT_LE(
        world.number("SELECT CAST(round(86400 * (julianday(completer_next_at) - "
                     "julianday(last_run_at))) AS INTEGER) FROM pawl_idempotency_keys"),
        600
    );
    bug = false;
    world.clock.advance(10min);

    EXPECT_EQ(world.complete().completed, 1);
    EXPECT_EQ(provider.keys.size(), 1U);
}

// Each completer of this test is a new one, as that of a server that starts.
TEST_F(UnrecordedResultTest, is_tried_at_once_when_a_server_starts) {
    (void)ask_keyed();
    ops::Completer of_the_old_release{*world.engine, {.settle_after = 0ms}};
    for (int i = 0; i < 20; ++i) {
        world.clock.advance(10min);
        EXPECT_EQ(of_the_old_release.run_once().failed, 1);
    }
    world.clock.advance(6s);  // The grace for its client.
    EXPECT_EQ(of_the_old_release.run_once().failed, 0);
    bug = false;

    EXPECT_EQ(world.complete().completed, 1);
}

TEST_F(UnrecordedResultTest, a_key_that_waits_for_its_provider_keeps_its_back_off_at_a_start) {
    bug = false;
    provider.next({Does::retry, Does::retry});
    EXPECT_EQ(why_of(ask_keyed()), Reason::provider_unavailable);
    world.clock.advance(1h);
    EXPECT_EQ(world.complete().failed, 1);
    const auto next = world.text("SELECT completer_next_at FROM pawl_idempotency_keys");

    (void)world.complete();

    EXPECT_EQ(world.text("SELECT completer_next_at FROM pawl_idempotency_keys"), next);
}

// The answer of a constraint of the schema, not of the program.
TEST_F(UnrecordedResultTest, that_breaks_a_constraint_goes_on_when_the_data_are_corrected) {
    bug = false;
    world.execute("INSERT INTO payments (charge) VALUES ('ch_1')");
    EXPECT_EQ(why_of(ask_keyed()), Reason::not_recorded);
    world.execute("DELETE FROM payments");

    EXPECT_EQ(status_of(ask_keyed()), 201);
    EXPECT_EQ(provider.keys.size(), 1U);
}

TEST_F(UnrecordedResultTest, that_this_program_can_not_decode_waits_for_one_that_can) {
    (void)ask_once();
    world.execute("UPDATE pawl_unrecorded_results SET result_name = 'Payed'");
    bug = false;

    EXPECT_EQ(why_of(ask_once()), Reason::stranded);

    EXPECT_EQ(world.number("SELECT attempt FROM pawl_idempotency_keys"), 1);
    world.execute("UPDATE pawl_unrecorded_results SET result_name = 'Paid'");
    EXPECT_EQ(status_of(ask_once()), 201);
    EXPECT_EQ(provider.keys.size(), 1U);
}

TEST_F(UnrecordedResultTest, of_an_earlier_generation_is_not_that_of_the_call) {
    (void)ask_keyed();
    world.execute("UPDATE pawl_unrecorded_results SET generation = generation + 1");
    bug = false;

    EXPECT_EQ(status_of(ask_keyed()), 201);

    EXPECT_EQ(provider.keys.size(), 2U);  // Called again, under the same key.
}

// For a defect that nobody can fix for this key.
TEST_F(UnrecordedResultTest, goes_to_the_attention_list_and_back_with_its_key) {
    (void)ask_once();
    ASSERT_TRUE(act(ops::KeyVerb::hand_over));
    EXPECT_EQ(why_of(ask_once()), Reason::needs_attention);
    EXPECT_EQ(world.count("pawl_unrecorded_results"), 0);
    EXPECT_EQ(
        world.text("SELECT reason || ' ' || result_name FROM pawl_attention"), "by-operator Paid"
    );
    bug = false;

    ASSERT_TRUE(act(ops::KeyVerb::retry));

    EXPECT_EQ(world.count("pawl_attention"), 0);
    EXPECT_EQ(status_of(ask_once()), 201);
    EXPECT_EQ(provider.keys.size(), 1U);
}

// As a release before 38 left it: a retry needs no decision (issue 38, part 4).
TEST_F(UnrecordedResultTest, on_the_attention_list_of_an_older_release_is_retried) {
    (void)ask_once();
    ASSERT_TRUE(act(ops::KeyVerb::hand_over));
    world.execute("UPDATE pawl_attention SET reason = 'not-kept'");
    bug = false;

    ASSERT_TRUE(act(ops::KeyVerb::retry));

    world.clock.advance(1min);
    EXPECT_EQ(world.complete().completed, 1);
}

TEST_F(UnrecordedResultTest, a_call_that_only_a_person_can_judge_does_not_leave_the_list) {
    bug = false;
    provider.next({Does::doubt_charged});
    EXPECT_EQ(why_of(ask_once()), Reason::needs_attention);

    EXPECT_FALSE(act(ops::KeyVerb::retry));
    EXPECT_TRUE(act(ops::KeyVerb::hold));
    EXPECT_TRUE(act(ops::KeyVerb::release));
}

}  // namespace
}  // namespace pawl::testing::unrecorded_result_test
