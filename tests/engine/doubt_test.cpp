#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

namespace pawl::testing {
namespace {

// Charged once, and then a parcel that is ordered under a key.
class OrderOnceAndSend : public OrderSteps {
public:
    static constexpr std::string_view name = "order_once_and_send";
    using OrderSteps::OrderSteps;
    Outcome<Sent> send(KeyedCall& call, const Charged&) {
        return Sent{"parcel of " + call.key().text};
    }
    Finish keep_parcel(Tx&, const Charged& at, const Sent&) { return answer(201, at); }
    using Flow = Steps<
        Atomic<&OrderOnceAndSend::write_order>,
        Foreign<
            Repeat::never,
            &OrderOnceAndSend::charge_once,
            &OrderOnceAndSend::keep_payment,
            &OrderOnceAndSend::keep_refusal>,
        Foreign<Repeat::safe_with_key, &OrderOnceAndSend::send, &OrderOnceAndSend::keep_parcel>>;
};

// Calls with an unknown outcome: repeated under their key, or never again; and operators'
// decisions.
class DoubtTest : public ::testing::Test {
protected:
    void SetUp() override {
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
        add_all();
    }
    void add_all() {
        world.add(Order{provider});
        world.add(OrderOnce{provider});
        world.add(OrderOnceAndSend{provider});
    }
    std::string reason() { return world.text("SELECT reason FROM pawl_attention"); }
    Answer settle(
        engine::Settlement::Kind kind, const std::string& name = "", const std::string& value = ""
    ) {
        engine::Settlement settlement{
            .key_id = world.number("SELECT key_id FROM pawl_attention"),
            .attempt = static_cast<int>(world.number("SELECT attempt FROM pawl_attention")),
            .recovery_point = "ordered",
            .kind = kind,
            .result_name = name,
            .result = value,
            .by = "ann"};
        return settle(settlement);
    }
    Answer settle(const engine::Settlement& settlement) {
        auto promise = std::make_shared<std::promise<Answer>>();
        world.engine->settle(settlement, [promise](Answer answer) {
            promise->set_value(std::move(answer));
        });
        return World::get(promise->get_future());
    }
    Provider provider;
    World world;
};

TEST_F(DoubtTest, a_keyed_call_in_doubt_is_repeated_under_the_same_key) {
    provider.next({Does::doubt_charged});
    EXPECT_EQ(why_of(world.ask<Order>("k", order_of_jane)), Reason::provider_unavailable);

    EXPECT_EQ(status_of(world.ask_until_settled<Order>("k", order_of_jane)), 201);

    ASSERT_EQ(provider.keys.size(), 2U);
    EXPECT_EQ(provider.keys[0], provider.keys[1]);
    EXPECT_EQ(provider.charges.size(), 1U);
}

// The keeper's transaction marks the next call. If it is rolled back, that mark decided whether the
// result is kept later: it was dropped, and a person had to settle a charge whose result was known.
TEST_F(DoubtTest, a_result_whose_keeping_fails_is_kept_later_whatever_the_next_call_is) {
    world.store.arm(2, FailingStore::How::undone);

    (void)world.ask<OrderOnceAndSend>("k", order_of_jane);
    world.stop();  // Also runs the write that keeps the result a second later.

    EXPECT_EQ(world.count("pawl_attention"), 0);
    EXPECT_EQ(world.text("SELECT charge FROM payments"), "ch_1");
    EXPECT_EQ(world.text("SELECT status FROM pawl_idempotency_keys"), "finished");
}

TEST_F(DoubtTest, the_key_of_a_call_outlives_a_restart_and_a_new_secret) {
    provider.next({Does::doubt_charged});
    (void)world.ask<Order>("k", order_of_jane);
    world.restart();
    add_all();

    EXPECT_EQ(status_of(world.ask_until_settled<Order>("k", order_of_jane)), 201);
    EXPECT_EQ(provider.keys[0], provider.keys[1]);
}

// Issue 16, number 15: the error of a key whose card was charged said that nothing was charged.
TEST_F(DoubtTest, an_error_without_effect_mentions_a_possible_earlier_call) {
    provider.next({Does::doubt_charged, Does::retry});
    (void)world.ask<Order>("k", order_of_jane);
    const auto called_at = world.text("SELECT called_at FROM pawl_idempotency_keys");
    world.clock.advance(1min);

    const auto answer = world.ask<Order>("k", order_of_jane);

    const auto text =
        "an earlier call may have been made at " + called_at + "; this try did nothing";
    EXPECT_EQ(world.text("SELECT error FROM pawl_idempotency_keys").substr(0, text.size()), text);
    ASSERT_EQ(why_of(answer), Reason::provider_unavailable);
    EXPECT_EQ(std::get<Rejection>(answer).detail.substr(0, text.size()), text);
    EXPECT_EQ(world.text("SELECT called_at FROM pawl_idempotency_keys"), called_at);
    EXPECT_EQ(status_of(world.ask_until_settled<Order>("k", order_of_jane)), 201);
    EXPECT_EQ(provider.charges.size(), 1U);
}

TEST_F(DoubtTest, a_call_that_was_never_made_leaves_no_time_of_a_call) {
    provider.next({Does::retry, Does::retry});
    (void)world.ask<Order>("k", order_of_jane);
    world.clock.advance(std::chrono::hours{30});
    (void)world.ask<Order>("k", order_of_jane);

    EXPECT_EQ(world.text("SELECT called_at FROM pawl_idempotency_keys"), "NULL");
    EXPECT_EQ(
        world.text("SELECT error FROM pawl_idempotency_keys"),
        "this try did nothing at the provider"
    );
    // The provider can't have forgotten a key that it never had.
    world.clock.advance(std::chrono::hours{30});
    EXPECT_EQ(status_of(world.ask<Order>("k", order_of_jane)), 201);
    ASSERT_EQ(provider.keys.size(), 3U);
    EXPECT_EQ(provider.keys[0], provider.keys[2]);
}

TEST_F(DoubtTest, the_attention_list_names_the_earlier_call_whatever_failed_last) {
    provider.next({Does::doubt_charged});
    (void)world.ask<Order>("k", order_of_jane);
    const auto called_at = world.text("SELECT called_at FROM pawl_idempotency_keys");
    for (int i = 0; i < 200 && world.count("pawl_attention") == 0; ++i) {
        provider.next({Does::retry});
        world.clock.advance(1h);  // Within the provider's memory, for the first 20.
        (void)world.complete();
    }

    const auto detail = world.text("SELECT detail FROM pawl_attention");
    EXPECT_EQ(detail.find("an earlier call may have been made at " + called_at), 0U) << detail;
}

TEST_F(DoubtTest, a_call_that_throws_is_in_doubt) {
    provider.next({Does::throws});
    EXPECT_EQ(why_of(world.ask<Order>("k", order_of_jane)), Reason::provider_unavailable);

    EXPECT_EQ(status_of(world.ask_until_settled<Order>("k", order_of_jane)), 201);
    EXPECT_EQ(provider.charges.size(), 1U);
}

TEST_F(DoubtTest, a_provider_that_repeats_a_stored_error_needs_a_person) {
    provider.next({Does::stuck});

    EXPECT_EQ(why_of(world.ask<Order>("k", order_of_jane)), Reason::needs_attention);
    EXPECT_EQ(reason(), "stuck");
    EXPECT_EQ(why_of(world.ask<Order>("k", order_of_jane)), Reason::needs_attention);
    EXPECT_EQ(provider.keys.size(), 1U);
}

TEST_F(DoubtTest, after_the_providers_memory_ends_no_call_is_repeated) {
    provider.next({Does::doubt_charged});
    (void)world.ask<Order>("k", order_of_jane);
    world.clock.advance(std::chrono::hours{20});

    EXPECT_EQ(why_of(world.ask<Order>("k", order_of_jane)), Reason::needs_attention);
    EXPECT_EQ(reason(), "forgotten");
    EXPECT_EQ(provider.keys.size(), 1U);
}

TEST_F(DoubtTest, a_first_call_in_the_future_counts_as_past) {
    provider.next({Does::doubt_charged});
    (void)world.ask<Order>("k", order_of_jane);
    world.execute("UPDATE pawl_idempotency_keys SET called_at = '2099-01-01T00:00:00.000Z'");

    EXPECT_EQ(why_of(world.ask<Order>("k", order_of_jane)), Reason::needs_attention);
}

TEST_F(DoubtTest, a_never_repeated_call_in_doubt_is_not_repeated) {
    provider.next({Does::doubt_charged});

    EXPECT_EQ(why_of(world.ask<OrderOnce>("k", order_of_jane)), Reason::needs_attention);
    EXPECT_EQ(reason(), "in-doubt");
    EXPECT_EQ(why_of(world.ask<OrderOnce>("k", order_of_jane)), Reason::needs_attention);
    EXPECT_EQ(provider.keys.size(), 1U);
}

TEST_F(DoubtTest, a_never_repeated_call_is_made_again_if_it_provably_did_nothing) {
    provider.next({Does::retry, Does::retry});

    EXPECT_EQ(status_of(world.ask_until_settled<OrderOnce>("k", order_of_jane)), 201);
    EXPECT_EQ(provider.keys.size(), 3U);
    EXPECT_EQ(provider.charges.size(), 1U);
}

TEST_F(DoubtTest, a_process_that_died_with_the_mark_set_leaves_a_doubt) {
    provider.next({Does::retry});
    (void)world.ask<OrderOnce>("k", order_of_jane);
    world.execute("UPDATE pawl_idempotency_keys SET calling = 1"
    );  // As T1 left it, if the process died in the call.

    EXPECT_EQ(why_of(world.ask<OrderOnce>("k", order_of_jane)), Reason::needs_attention);
    EXPECT_EQ(provider.keys.size(), 1U);
}

TEST_F(DoubtTest, a_settlement_happened_runs_the_keeper) {
    provider.next({Does::doubt_charged});
    (void)world.ask<OrderOnce>("k", order_of_jane);

    const auto answer = settle(engine::Settlement::Kind::happened, "Paid", R"({"id":"ch_1"})");

    EXPECT_EQ(status_of(answer), 201);
    EXPECT_EQ(world.text("SELECT charge FROM payments"), "ch_1");
    EXPECT_EQ(body_of(world.ask<OrderOnce>("k", order_of_jane)), body_of(answer));
    EXPECT_EQ(world.count("pawl_attention"), 0);
    EXPECT_EQ(provider.keys.size(), 1U);
}

TEST_F(DoubtTest, a_settlement_did_not_happen_calls_under_a_new_key) {
    provider.next({Does::stuck});
    (void)world.ask<Order>("k", order_of_jane);

    EXPECT_EQ(status_of(settle(engine::Settlement::Kind::did_not_happen)), 201);

    ASSERT_EQ(provider.keys.size(), 2U);
    EXPECT_NE(provider.keys[0], provider.keys[1]);
    EXPECT_EQ(world.number("SELECT generation FROM pawl_idempotency_keys"), 1);
}

TEST_F(DoubtTest, a_settlement_give_up_answers_with_the_operations_abandon) {
    provider.next({Does::doubt});
    (void)world.ask<OrderOnce>("k", order_of_jane);

    EXPECT_EQ(status_of(settle(engine::Settlement::Kind::give_up)), 409);
    EXPECT_EQ(status_of(world.ask<OrderOnce>("k", order_of_jane)), 409);
}

// Issue 16, number 16: a customer whose card was charged was told that nothing was done.
TEST_F(DoubtTest, abandon_learns_whether_a_call_may_have_been_made) {
    provider.next({Does::doubt_charged});
    (void)world.ask<OrderOnce>("charged", order_of_jane);
    EXPECT_EQ(body_of(settle(engine::Settlement::Kind::give_up)), "perhaps called");

    // The provider was never reached, and the completer gives up.
    for (int i = 0; i < 200 && world.count("pawl_attention") == 0; ++i) {
        provider.next({Does::retry});
        if (i == 0) (void)world.ask<Order>("refused", order_of_jane);
        world.clock.advance(2h);
        provider.next({Does::retry});
        (void)world.complete();
    }
    ASSERT_EQ(reason(), "failed-too-often");
    EXPECT_EQ(body_of(settle(engine::Settlement::Kind::give_up)), "not called");
}

TEST_F(DoubtTest, a_settlement_is_carried_out_once) {
    provider.next({Does::doubt_charged});
    (void)world.ask<OrderOnce>("k", order_of_jane);
    const engine::Settlement settlement{
        .key_id = world.number("SELECT key_id FROM pawl_attention"),
        .attempt = static_cast<int>(world.number("SELECT attempt FROM pawl_attention")),
        .recovery_point = "ordered",
        .kind = engine::Settlement::Kind::happened,
        .result_name = "Paid",
        .result = R"({"id":"ch_1"})",
        .by = "ann"};

    EXPECT_EQ(status_of(settle(settlement)), 201);
    EXPECT_EQ(why_of(settle(settlement)), Reason::in_progress);
    EXPECT_EQ(world.count("payments"), 1);
}

TEST_F(DoubtTest, a_settlement_that_cannot_be_carried_out_says_why_and_changes_nothing) {
    provider.next({Does::doubt});
    (void)world.ask<OrderOnce>("k", order_of_jane);

    (void)settle(engine::Settlement::Kind::happened, "Parcel", "{}");

    EXPECT_NE(
        world.text("SELECT settling_error FROM pawl_attention").find("no result named 'Parcel'"),
        std::string::npos
    );
    EXPECT_EQ(world.text("SELECT status FROM pawl_idempotency_keys"), "attention");
}

TEST_F(DoubtTest, a_point_that_does_not_decode_strands_only_its_key) {
    provider.next({Does::retry});
    (void)world.ask<Order>("k", order_of_jane);
    for (const char* data :
         {R"({"customer":1})", "{}", "no JSON", R"({"customer":"jane","items":[],"more":1})"}) {
        world.execute(
            std::string{"UPDATE pawl_idempotency_keys SET recovery_data = '"} + data + "'"
        );
        EXPECT_EQ(why_of(world.ask<Order>("k", order_of_jane)), Reason::stranded) << data;
    }
    world.clock.advance(std::chrono::hours{1});
    EXPECT_EQ(world.complete().stranded, 1);
    EXPECT_EQ(world.complete().stranded, 0) << "put off";
    world.clock.advance(10s);
    EXPECT_EQ(world.complete().stranded, 1);
    EXPECT_EQ(world.number("SELECT completer_runs FROM pawl_idempotency_keys"), 0);
    EXPECT_EQ(status_of(world.ask<Order>("other", order_of_jane)), 201);
    EXPECT_EQ(provider.keys.size(), 2U);
}

TEST_F(DoubtTest, a_point_that_no_step_of_this_program_knows_strands_its_key) {
    provider.next({Does::retry});
    (void)world.ask<Order>("k", order_of_jane);
    world.execute("UPDATE pawl_idempotency_keys SET recovery_point = 'packed'");

    const auto answer = world.ask<Order>("k", order_of_jane);

    ASSERT_EQ(why_of(answer), Reason::stranded);
    EXPECT_NE(std::get<Rejection>(answer).detail.find("PAWL0007"), std::string::npos);
}

// Issue 16, number 20: a request in flight was charged at both providers.
class TwoProvidersTest : public DoubtTest {
protected:
    TwoProvidersTest() { provider.target = "bank a"; }
    void restart_with_bank_b() {
        provider.target = "bank b";
        world.restart();
        add_all();
    }
    std::string of_key(const std::string& column) {
        return world.text("SELECT " + column + " FROM pawl_idempotency_keys");
    }
};

TEST_F(TwoProvidersTest, a_call_that_may_have_been_made_is_not_repeated_at_another_provider) {
    provider.next({Does::doubt_charged});
    (void)world.ask<Order>("k", order_of_jane);
    EXPECT_EQ(of_key("call_target"), "bank a");
    const auto called_at = of_key("called_at");
    restart_with_bank_b();

    EXPECT_EQ(why_of(world.ask<Order>("k", order_of_jane)), Reason::needs_attention);

    EXPECT_EQ(reason(), "elsewhere");
    EXPECT_EQ(
        world.text("SELECT detail FROM pawl_attention"),
        "an earlier call may have been made at " + called_at +
            "; PAWL0018: it went to \"bank a\", and this server calls \"bank b\""
    );
    EXPECT_EQ(provider.keys.size(), 1U);
    // That provider's result is stored like any other.
    EXPECT_EQ(
        status_of(settle(engine::Settlement::Kind::happened, "Paid", R"({"id":"ch_1"})")), 201
    );
    EXPECT_EQ(provider.keys.size(), 1U);
}

// Issue 38, part 3: a server with another provider put such calls on the attention list.
TEST_F(TwoProvidersTest, a_call_is_left_to_a_running_server_whose_provider_was_called) {
    provider.next({Does::doubt_charged});
    (void)world.ask<Order>("k", order_of_jane);
    restart_with_bank_b();
    world.execute(
        "INSERT INTO pawl_servers (host, version, since, seen_at, beats, settings) VALUES ('h', "
        "'1', '2027-01-15T08:00:00.000Z', '2027-01-15T08:00:00.000Z', 1, "
        R"('{"settings":[{"name":"bank","value":"bank a"}]}'))"
    );
    const auto attempt = world.number("SELECT attempt FROM pawl_idempotency_keys");

    const auto left = world.ask<Order>("k", order_of_jane);
    ASSERT_EQ(why_of(left), Reason::other_server);
    EXPECT_EQ(std::get<Rejection>(left).code, "PAWL0018");
    world.clock.advance(1min);
    EXPECT_EQ(world.complete().left, 1);
    EXPECT_EQ(world.count("pawl_attention"), 0);
    EXPECT_EQ(world.number("SELECT attempt FROM pawl_idempotency_keys"), attempt);
    EXPECT_EQ(world.number("SELECT completer_runs FROM pawl_idempotency_keys"), 0);

    world.execute("DELETE FROM pawl_servers");
    EXPECT_EQ(why_of(world.ask<Order>("k", order_of_jane)), Reason::needs_attention);
    EXPECT_EQ(provider.keys.size(), 1U);
}

TEST_F(TwoProvidersTest, a_call_is_left_to_a_running_server_that_claimed_it_last) {
    provider.next({Does::doubt_charged});
    (void)world.ask<Order>("k", order_of_jane);
    restart_with_bank_b();
    world.execute(
        "INSERT INTO pawl_servers (id, host, version, since, seen_at, beats) VALUES (70, 'h', '1', "
        "'2027-01-15T08:00:00.000Z', '2027-01-15T08:00:00.000Z', 1)"
    );
    world.execute("UPDATE pawl_idempotency_keys SET server_id = 70");

    EXPECT_EQ(why_of(world.ask<Order>("k", order_of_jane)), Reason::other_server);

    world.execute("UPDATE pawl_idempotency_keys SET server_id = 71");
    EXPECT_EQ(why_of(world.ask<Order>("k", order_of_jane)), Reason::needs_attention);
}

TEST_F(TwoProvidersTest, a_call_that_did_not_happen_at_the_first_provider_goes_to_the_second) {
    provider.next({Does::doubt});
    (void)world.ask<Order>("k", order_of_jane);
    restart_with_bank_b();
    (void)world.ask<Order>("k", order_of_jane);
    provider.next({Does::doubt});

    (void)settle(engine::Settlement::Kind::did_not_happen);

    EXPECT_EQ(of_key("call_target"), "bank b");
    EXPECT_EQ(status_of(world.ask_until_settled<Order>("k", order_of_jane)), 201);
    ASSERT_EQ(provider.keys.size(), 3U);
    EXPECT_NE(provider.keys[0], provider.keys[1]);
}

TEST_F(TwoProvidersTest, a_call_that_was_never_made_goes_to_the_current_provider) {
    provider.next({Does::retry});
    (void)world.ask<Order>("k", order_of_jane);
    EXPECT_EQ(of_key("called_at"), "NULL");
    EXPECT_EQ(of_key("call_target"), "bank a");  // For which it waits.
    restart_with_bank_b();

    EXPECT_EQ(status_of(world.ask<Order>("k", order_of_jane)), 201);
    EXPECT_EQ(of_key("call_target"), "bank b");
}

TEST_F(TwoProvidersTest, the_same_provider_is_asked_again) {
    provider.next({Does::doubt_charged});
    (void)world.ask<Order>("k", order_of_jane);
    world.restart();
    add_all();

    EXPECT_EQ(status_of(world.ask_until_settled<Order>("k", order_of_jane)), 201);
    EXPECT_EQ(provider.charges.size(), 1U);
}

}  // namespace
}  // namespace pawl::testing
