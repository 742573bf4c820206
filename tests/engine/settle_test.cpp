#include "store/checks.hpp"
#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

namespace pawl::testing {
namespace {

// A throw in the first phase, in the keeper and in the last phase, as long as the test wants.
struct Bugs {
    std::atomic<bool> in_phase{false};
    std::atomic<bool> in_keeper{false};
    std::atomic<bool> in_last_phase{false};
};

class BuggyOrder : public OrderSteps {
public:
    static constexpr std::string_view name = "buggy_order";
    BuggyOrder(Provider& provider, Bugs& bugs) : OrderSteps{provider}, bugs_{&bugs} {}
    Next<Ordered> write(Tx& tx, const Started& at) {
        if (bugs_->in_phase) throw std::runtime_error{"a bug in the phase" + not_utf8};
        return write_order(tx, at);
    }
    Next<Charged> keep(Tx& tx, const Ordered& at, const Paid& paid) {
        if (bugs_->in_keeper) throw std::runtime_error{"a bug in the keeper" + not_utf8};
        return keep_payment(tx, at, paid);
    }
    Finish end(Tx& tx, const Charged& at) {
        if (bugs_->in_last_phase) throw std::runtime_error{"a bug in the last phase" + not_utf8};
        return finish(tx, at);
    }
    using Flow = Steps<
        Atomic<&BuggyOrder::write>,
        Foreign<
            Repeat::never,
            &BuggyOrder::charge_once,
            &BuggyOrder::keep,
            &BuggyOrder::keep_refusal>,
        Atomic<&BuggyOrder::end>>;

private:
    Bugs* bugs_;
};

class KeyedBuggyOrder : public BuggyOrder {
public:
    static constexpr std::string_view name = "keyed_buggy_order";
    using BuggyOrder::BuggyOrder;
    using Flow = Steps<
        Atomic<&KeyedBuggyOrder::write>,
        Foreign<
            Repeat::safe_with_key,
            &KeyedBuggyOrder::charge,
            &KeyedBuggyOrder::keep,
            &KeyedBuggyOrder::keep_refusal>,
        Atomic<&KeyedBuggyOrder::end>>;
};

// Operators' decisions, recorded as the command line does it, and carried out by the completer.
class SettleTest : public ::testing::Test {
protected:
    void SetUp() override {
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
        world.add(BuggyOrder{provider, bugs});
        world.add(KeyedBuggyOrder{provider, bugs});
    }
    Answer ask_keyed() { return world.ask<KeyedBuggyOrder>("k", order_of_jane); }
    Answer ask() { return world.ask<BuggyOrder>("k", order_of_jane); }
    std::string status() { return world.text("SELECT status FROM pawl_idempotency_keys"); }

    // The number of recorded decisions: 0 if the fence refused it.
    std::int64_t decide(const std::string& word, const std::string& result = "", int attempt = 0) {
        const auto of_attempt =
            attempt != 0 ? attempt : world.number("SELECT attempt FROM pawl_attention");
        return store::write_now(world.store, [&](store::Session& session) {
            return detail::run_statement(
                session,
                sql::request_settlement,
                [](const detail::Row&) {},
                world.number_in(session, "SELECT key_id FROM pawl_attention"),
                of_attempt,
                word,
                result.empty() ? std::optional<std::string>{} : "Paid",
                result.empty() ? std::optional<std::string>{} : result,
                std::string{"ann"},
                std::string{"seen"},
                session.now()
            );
        });
    }
    std::int64_t broken_call_marks() {
        return store::read_now(world.store, [](store::Session& session) {
            return detail::run_statement(
                session, sql::checks::call_marks, [](const detail::Row&) {}, 10
            );
        });
    }
    // The completer fails until it gives up.
    void wear_out_the_completer() {
        for (int i = 0; i < 200 && world.count("pawl_attention") == 0; ++i) {
            world.clock.advance(2h);
            (void)world.complete();
        }
        ASSERT_EQ(world.text("SELECT reason FROM pawl_attention"), "failed-too-often");
    }
    Provider provider;
    Bugs bugs;
    World world;
};

TEST_F(SettleTest, the_completer_carries_out_a_decision_once) {
    provider.next({Does::doubt_charged});
    EXPECT_EQ(why_of(ask()), Reason::needs_attention);
    EXPECT_EQ(world.complete().settled, 0);  // There is no decision.
    EXPECT_EQ(decide("happened", R"({"id":"ch_1"})"), 1);

    EXPECT_EQ(world.complete().settled, 1);
    EXPECT_EQ(world.complete().settled, 0);

    EXPECT_EQ(status_of(ask()), 201);
    EXPECT_EQ(provider.keys.size(), 1U);
    EXPECT_EQ(world.count("pawl_attention"), 0);
    EXPECT_EQ(
        world.text("SELECT actor || ' ' || action FROM pawl_audit_log"), "ann settled happened"
    );
}

// Issue 16, number 17: a decision can be taken back for 30 s.
TEST_F(SettleTest, a_decision_is_carried_out_only_once_it_is_old_enough) {
    provider.next({Does::doubt_charged});
    (void)ask();
    EXPECT_EQ(decide("happened", R"({"id":"ch_1"})"), 1);

    EXPECT_EQ(world.complete(30s).settled, 0);
    world.clock.advance(30s - 1ms);
    EXPECT_EQ(world.complete(30s).settled, 0);
    world.clock.advance(1ms);
    EXPECT_EQ(world.complete(30s).settled, 1);
}

// Issue 16, number 17: a decision is shown before it is recorded.
TEST_F(SettleTest, a_preview_shows_the_customers_answer_and_leaves_nothing) {
    provider.next({Does::doubt_charged});
    (void)ask();
    engine::Settlement settlement{
        .key_id = world.number("SELECT key_id FROM pawl_attention"),
        .attempt = static_cast<int>(world.number("SELECT attempt FROM pawl_attention")),
        .kind = engine::Settlement::Kind::happened,
        .result_name = "Paid",
        .result = R"({"id":"ch_1"})",
        .by = "ann"};

    const auto shown = world.engine->preview(settlement);

    ASSERT_TRUE(shown.answer) << shown.error;
    EXPECT_EQ(shown.answer->status, 201);
    EXPECT_EQ(status(), "attention");
    EXPECT_EQ(world.count("pawl_audit_log"), 0);
    EXPECT_EQ(world.text("SELECT settled_at FROM pawl_attention"), "NULL");
    EXPECT_EQ(decide("happened", R"({"id":"ch_1"})"), 1);
    EXPECT_EQ(world.complete().settled, 1);
    const auto answer = std::get<StoredResponse>(ask());
    EXPECT_EQ(answer.response.body, shown.answer->body) << "what was shown is what came";
}

TEST_F(SettleTest, a_preview_says_which_call_is_made_again_and_makes_none) {
    provider.next({Does::doubt});
    (void)ask();
    engine::Settlement settlement{
        .key_id = world.number("SELECT key_id FROM pawl_attention"),
        .attempt = static_cast<int>(world.number("SELECT attempt FROM pawl_attention")),
        .kind = engine::Settlement::Kind::did_not_happen};

    const auto shown = world.engine->preview(settlement);

    EXPECT_FALSE(shown.answer);
    EXPECT_EQ(shown.call_from, world.text("SELECT recovery_point FROM pawl_attention"));
    EXPECT_EQ(provider.keys.size(), 1U);
    EXPECT_EQ(world.number("SELECT generation FROM pawl_idempotency_keys"), 0);
}

TEST_F(SettleTest, a_preview_says_why_a_settlement_can_not_be_carried_out) {
    provider.next({Does::doubt_charged});
    (void)ask();
    engine::Settlement settlement{
        .key_id = world.number("SELECT key_id FROM pawl_attention"),
        .attempt = static_cast<int>(world.number("SELECT attempt FROM pawl_attention")),
        .kind = engine::Settlement::Kind::happened,
        .result_name = "Paid",
        .result = R"({"no":"id"})"};

    EXPECT_NE(world.engine->preview(settlement).error.find("id"), std::string::npos);
    settlement.result = R"({"id":"ch_1"})";
    bugs.in_keeper = true;
    EXPECT_EQ(world.engine->preview(settlement).error, "a bug in the keeper?");
    bugs.in_keeper = false;
    settlement.attempt += 1;
    EXPECT_NE(world.engine->preview(settlement).error, "");
    EXPECT_EQ(world.count("pawl_attention"), 1);
}

TEST_F(SettleTest, a_call_that_did_not_happen_is_made_again_once_and_never_by_itself) {
    provider.next({Does::doubt});
    (void)ask();
    EXPECT_EQ(decide("did-not-happen"), 1);
    provider.next({Does::doubt_charged});

    (void
     // Called again, and in doubt again: the next decision needs an operator, too.
    ) world.complete();

    EXPECT_EQ(provider.keys.size(), 2U);
    EXPECT_EQ(status(), "attention");
    EXPECT_EQ(world.text("SELECT settlement FROM pawl_attention"), "NULL");
    EXPECT_EQ(why_of(ask()), Reason::needs_attention);
    world.clock.advance(24h);
    (void)world.complete();
    EXPECT_EQ(provider.keys.size(), 2U);
}

TEST_F(SettleTest, a_decision_on_an_earlier_attempt_is_refused) {
    provider.next({Does::doubt});
    (void)ask();
    const auto first = static_cast<int>(world.number("SELECT attempt FROM pawl_attention"));
    EXPECT_EQ(decide("did-not-happen"), 1);
    provider.next({Does::doubt_charged});
    (void)world.complete();

    // Based on the old state: the call has been repeated since.
    EXPECT_EQ(decide("did-not-happen", "", first), 0);
    EXPECT_EQ(world.complete().settled, 0);
    EXPECT_EQ(provider.keys.size(), 2U);
    EXPECT_EQ(status(), "attention");
}

// Issue 16, number 14: a row that does not decode fails alone, and not in every round.
TEST_F(SettleTest, a_damaged_key_is_put_off_and_the_others_are_completed) {
    bugs.in_phase = true;
    (void)world.ask<BuggyOrder>("damaged", order_of_jane);
    (void)world.ask<BuggyOrder>("sound", order_of_jane);
    bugs.in_phase = false;
    world.execute(
        "UPDATE pawl_idempotency_keys SET attempt = 3000000000 WHERE idempotency_key = 'damaged'"
    );
    world.execute("UPDATE pawl_idempotency_keys SET completer_first_at = 'never' WHERE attempt > 9"
    );
    world.clock.advance(1h);

    const auto report = world.complete();

    EXPECT_EQ(report.completed, 1);
    EXPECT_EQ(report.failed, 1);
    EXPECT_EQ(world.complete().failed, 0) << "put off";
    world.clock.advance(3h);
    EXPECT_EQ(world.complete().failed, 1);
    EXPECT_EQ(world.count("pawl_attention"), 0);
}

TEST_F(SettleTest, two_people_decide_and_the_first_one_counts) {
    provider.next({Does::doubt_charged});
    (void)ask();

    EXPECT_EQ(decide("happened", R"({"id":"ch_1"})"), 1);
    EXPECT_EQ(decide("give-up"), 0);

    EXPECT_EQ(world.complete().settled, 1);
    EXPECT_EQ(status_of(ask()), 201);
}

TEST_F(SettleTest, a_decision_that_could_not_be_carried_out_can_be_made_anew) {
    provider.next({Does::doubt_charged});
    (void)ask();
    EXPECT_EQ(decide("happened", R"({"no":"id"})"), 1);
    ops::Completer completer{*world.engine, {.settle_after = 0ms}};
    EXPECT_EQ(completer.run_once().settling_failed, 1);
    EXPECT_EQ(completer.run_once().settling_failed, 0);  // Only at the next start of a server:
    EXPECT_EQ(world.complete().settling_failed, 1);

    EXPECT_EQ(decide("happened", R"({"id":"ch_1"})"), 1);

    EXPECT_EQ(world.complete().settled, 1);
    EXPECT_EQ(status_of(ask()), 201);
}

TEST_F(SettleTest, a_decision_survives_a_failed_commit_and_is_carried_out_once) {
    for (const auto how :
         {FailingStore::How::refused, FailingStore::How::undone, FailingStore::How::in_doubt}) {
        World fresh;
        fresh.execute(std::string{shop_tables});
        fresh.execute(std::string{payment_tables});
        Provider paid;
        fresh.add(BuggyOrder{paid, bugs});
        paid.next({Does::doubt_charged});
        (void)fresh.ask<BuggyOrder>("k", order_of_jane);
        fresh.execute(
            "UPDATE pawl_attention SET settlement = 'happened', settled_result_name = 'Paid', "
            "settled_result = '{\"id\":\"ch_1\"}', settled_by = 'ann', settled_at = "
            "'2027-01-01T00:00:00.000Z'"
        );
        fresh.store.arm(2, how);  // The first write of a completer makes failed keys due.

        (void)fresh.complete();
        (void)fresh.complete();

        EXPECT_EQ(status_of(fresh.ask<BuggyOrder>("k", order_of_jane)), 201);
        EXPECT_EQ(fresh.count("payments"), 1);
        EXPECT_EQ(fresh.count("pawl_attention"), 0);
        EXPECT_EQ(fresh.count("pawl_audit_log"), 1);
        EXPECT_EQ(paid.keys.size(), 1U);
    }
}

// "Did not happen" for a phase: it was rolled back each time, so it runs again.
TEST_F(SettleTest, a_phase_that_failed_too_often_runs_again_when_a_person_says_so) {
    bugs.in_phase = true;
    EXPECT_EQ(why_of(ask()), Reason::internal);
    wear_out_the_completer();
    bugs.in_phase = false;
    EXPECT_EQ(decide("did-not-happen"), 1);

    EXPECT_EQ(world.complete().settled, 1);

    EXPECT_EQ(status_of(ask()), 201);
    EXPECT_EQ(provider.charges.size(), 1U);
    EXPECT_EQ(world.count("orders"), 1);
}

TEST_F(SettleTest, a_phase_that_still_fails_says_why_and_stays_with_the_person) {
    bugs.in_phase = true;
    (void)ask();
    wear_out_the_completer();
    EXPECT_EQ(decide("did-not-happen"), 1);

    EXPECT_EQ(world.complete().settling_failed, 1);

    EXPECT_EQ(status(), "attention");
    EXPECT_EQ(world.text("SELECT settling_error FROM pawl_attention"), "a bug in the phase?");
}

TEST_F(SettleTest, a_phase_that_failed_too_often_can_be_given_up) {
    bugs.in_phase = true;
    (void)ask();
    wear_out_the_completer();
    EXPECT_EQ(decide("give-up"), 1);

    EXPECT_EQ(world.complete().settled, 1);

    EXPECT_EQ(status_of(ask()), 422);
    EXPECT_NE(body_of(ask()).find("It was not carried out."), std::string::npos);
    EXPECT_EQ(world.count("orders"), 0);
}

// The operation has no abandon() for the point after the call (issue 16, number 16).
TEST_F(
    SettleTest, a_request_that_is_given_up_behind_its_call_does_not_say_that_it_was_not_carried_out
) {
    bugs.in_last_phase = true;
    EXPECT_EQ(why_of(ask_keyed()), Reason::internal);
    wear_out_the_completer();
    EXPECT_EQ(decide("give-up"), 1);

    EXPECT_EQ(world.complete().settled, 1);

    const auto body = body_of(ask_keyed());
    EXPECT_NE(body.find("may have been carried out"), std::string::npos) << body;
}

TEST_F(SettleTest, a_phase_cannot_be_settled_as_happened) {
    bugs.in_phase = true;
    (void)ask();
    wear_out_the_completer();
    EXPECT_EQ(decide("happened", R"({"id":"ch_1"})"), 1);

    EXPECT_EQ(world.complete().settling_failed, 1);

    EXPECT_EQ(status(), "attention");
}

// The deploy that broke it can be reverted: the clients' repeats then go on without an operator.
TEST_F(SettleTest, a_phase_after_the_call_that_throws_keeps_the_result_and_is_retried) {
    for (const bool keyed : {true, false}) {
        const auto key = keyed ? "keyed" : "once";
        const auto ask_it = [&] {
            return keyed ? world.ask<KeyedBuggyOrder>(key, order_of_jane)
                         : world.ask<BuggyOrder>(key, order_of_jane);
        };
        bugs.in_last_phase = true;
        const auto calls = provider.keys.size();
        const auto payments = world.count("payments");
        provider.next({Does::charge});

        EXPECT_EQ(why_of(ask_it()), Reason::internal);
        EXPECT_EQ(why_of(ask_it()), Reason::internal);

        EXPECT_EQ(world.count("payments"), payments + 1);
        EXPECT_EQ(world.count("pawl_attention"), 0);
        const auto open = std::string{" FROM pawl_idempotency_keys WHERE status = 'open'"};
        EXPECT_EQ(world.text("SELECT recovery_point" + open), "charged");
        EXPECT_EQ(world.text("SELECT call_key" + open), "NULL");
        EXPECT_NE(world.text("SELECT called_at" + open), "NULL");
        EXPECT_EQ(broken_call_marks(), 0);
        const auto error = world.text("SELECT error" + open);
        EXPECT_NE(error.find("a bug in the last phase"), std::string::npos) << error;
        bugs.in_last_phase = false;
        EXPECT_EQ(status_of(ask_it()), 201);
        EXPECT_EQ(provider.keys.size(), calls + 1);
        EXPECT_EQ(world.count("payments"), payments + 1);
    }
}

// The result is only in memory, and can't be asked for again.
TEST_F(SettleTest, a_result_is_not_lost_when_it_can_not_be_stored_at_first) {
    for (const auto how :
         {FailingStore::How::refused, FailingStore::How::undone, FailingStore::How::in_doubt}) {
        World fresh;
        fresh.execute(std::string{shop_tables});
        fresh.execute(std::string{payment_tables});
        Provider paid;
        bugs.in_keeper = true;
        fresh.add(BuggyOrder{paid, bugs});
        fresh.store.arm(4, how);  // T1, the keeper twice, then the result itself.

        const auto told = fresh.ask<BuggyOrder>("k", order_of_jane);
        EXPECT_TRUE(std::holds_alternative<Rejection>(told));
        fresh.store.wait_for_writes(5);

        EXPECT_EQ(
            fresh.text("SELECT result_name || result FROM pawl_unrecorded_results"),
            R"(Paid{"id":"ch_1"})"
        );
        EXPECT_EQ(fresh.text("SELECT status FROM pawl_idempotency_keys"), "open");
    }
}

}  // namespace
}  // namespace pawl::testing
