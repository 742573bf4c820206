#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

namespace pawl::testing {
namespace {

// Keys that changed meanwhile: removed, expired, of another program, held by another node or
// temporarily unreadable. No answer is wrong, and nothing is done twice.

class AgainOrder : public Order {
public:
    static constexpr std::string_view name = "again_order";
    static constexpr Settings settings{.re_execute = true};
    using Order::Order;
};

class NoteOnly {
public:
    static constexpr std::string_view name = "note_only";
    static constexpr Settings settings{.key = KeyRule::none};
    struct Request {
        std::string text;
    };
    using Started = pawl::Started<Request>;
    Finish note(Tx& tx, const Started& at) {
        tx.stage(OrderJob{at.request.text});
        return answer(200, at.request.text);
    }
    using Flow = Steps<Atomic<&NoteOnly::note>>;
};

class StoredKeyTest : public ::testing::Test, public FirstCallHeld {
protected:
    void SetUp() override {
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
        add_operations();
    }
    void TearDown() override { core::on_fault_point(nullptr); }
    void add_operations() {
        world.add(Order{provider});
        world.add(OrderOnce{provider});
        world.add(AgainOrder{provider});
        world.add(NoteOnly{});
    }
    Answer ask() { return world.ask<Order>("k", order_of_jane); }
    std::int64_t key_id() { return world.number("SELECT max(id) FROM pawl_key_registry"); }
    // An open key at its call, which no node holds.
    void leave_open() {
        provider.next({Does::retry});
        ASSERT_EQ(why_of(ask()), Reason::provider_unavailable);
    }
    template <class F>
    static Answer answer_of(F begin) {
        auto promise = std::make_shared<std::promise<Answer>>();
        auto future = promise->get_future();
        begin([promise](Answer answer) { promise->set_value(std::move(answer)); });
        return World::get(std::move(future));
    }
    Answer complete(std::int64_t id) {
        return answer_of([&](engine::OnAnswer told) { world.engine->complete(id, std::move(told)); }
        );
    }
    Answer settle(engine::Settlement settlement) {
        return answer_of([&](engine::OnAnswer told) {
            world.engine->settle(settlement, std::move(told));
        });
    }
    Answer note() {
        const auto asked = world.request<NoteOnly>("", R"({"text":"a"})");
        return answer_of([&](engine::OnAnswer told) {
            world.engine->handle_unkeyed(
                *asked.operation, {0, asked.principal, ""}, asked.request, std::move(told)
            );
        });
    }
    Provider provider;
    World world;
};

TEST_F(StoredKeyTest, two_operations_must_have_different_names) {
    EXPECT_THROW(world.add(Order{provider}), std::logic_error);
    EXPECT_EQ(world.engine->find("no_such_order"), nullptr);
}

TEST_F(StoredKeyTest, a_missing_or_expired_key_is_not_completed) {
    EXPECT_EQ(why_of(complete(999)), Reason::in_progress);

    EXPECT_EQ(status_of(ask()), 201);
    world.clock.advance(100h);
    ASSERT_EQ((ops::Reaper{world.store, world.clock, {}}.run_once(world.clock.now()).reaped), 1);

    EXPECT_EQ(why_of(complete(key_id())), Reason::in_progress);
    EXPECT_EQ(provider.keys.size(), 1U);
}

TEST_F(StoredKeyTest, a_key_of_an_unknown_operation_is_stranded) {
    leave_open();
    world.execute("UPDATE pawl_idempotency_keys SET operation = 'of_tomorrow'");

    const auto answer = complete(key_id());

    EXPECT_EQ(why_of(answer), Reason::stranded);
    EXPECT_EQ(std::get<Rejection>(answer).detail, "PAWL0007: operation of_tomorrow");
}

// After a rollback each try of the older binary counted: the key was put off for up to two hours,
// and reached the attention list after a day.
TEST_F(StoredKeyTest, a_stranded_key_waits_for_its_binary_without_failing) {
    leave_open();
    const auto point = world.text("SELECT recovery_point FROM pawl_idempotency_keys");
    world.execute("UPDATE pawl_idempotency_keys SET recovery_point = 'of_tomorrow'");
    for (int i = 0; i < 50; ++i) {
        world.clock.advance(1h);
        const auto report = world.complete();
        EXPECT_EQ(report.completed + report.failed + report.stranded, 0);
    }
    EXPECT_EQ(world.count("pawl_attention"), 0);
    EXPECT_EQ(world.number("SELECT completer_runs FROM pawl_idempotency_keys"), 0);

    world.execute("UPDATE pawl_idempotency_keys SET recovery_point = '" + point + "'");
    EXPECT_EQ(world.complete().completed, 1);
}

TEST_F(StoredKeyTest, a_key_in_flight_is_not_completed) {
    hold_first_call(provider);
    auto answer = world.send<Order>("k", order_of_jane);
    at_call.wait();

    EXPECT_EQ(why_of(complete(key_id())), Reason::in_progress);

    let_go.open();
    EXPECT_EQ(status_of(World::get(std::move(answer))), 201);
    EXPECT_EQ(provider.keys.size(), 1U);
}

// As without the completer: only a server with the secret can compare the request (issue 38).
TEST_F(
    StoredKeyTest, a_key_under_an_unavailable_secret_is_of_another_server_while_it_is_completed
) {
    leave_open();
    world.execute("UPDATE pawl_idempotency_keys SET secret_version = 99");
    hold_first_call(provider);
    std::promise<Answer> completed;
    world.engine->complete(key_id(), [&](Answer answer) {
        completed.set_value(std::move(answer));
    });
    at_call.wait();

    EXPECT_EQ(why_of(ask()), Reason::other_server);

    let_go.open();
    EXPECT_EQ(status_of(World::get(completed.get_future())), 201);
}

TEST_F(StoredKeyTest, a_key_under_an_unavailable_secret_is_of_another_server) {
    EXPECT_EQ(status_of(ask()), 201);
    world.execute("UPDATE pawl_idempotency_keys SET secret_version = 99");

    EXPECT_EQ(why_of(ask()), Reason::other_server);
}

TEST_F(StoredKeyTest, a_stopped_engine_begins_nothing) {
    leave_open();
    world.engine->refuse_new();

    EXPECT_EQ(why_of(complete(key_id())), Reason::stopping);
    EXPECT_EQ(why_of(note()), Reason::stopping);
    EXPECT_EQ(provider.keys.size(), 1U);
}

TEST_F(StoredKeyTest, a_failed_query_is_reported_and_nothing_is_done) {
    world.store.fail_reads(1);
    EXPECT_EQ(why_of(ask()), Reason::store_unavailable);
    EXPECT_EQ(world.count("pawl_key_registry"), 0);
    leave_open();
    const auto id = key_id();
    world.store.fail_reads(1);
    EXPECT_EQ(why_of(complete(id)), Reason::store_unavailable);

    EXPECT_EQ(status_of(ask()), 201);
    EXPECT_EQ(provider.charges.size(), 1U);
}

TEST_F(StoredKeyTest, a_claim_in_doubt_that_cannot_be_queried_is_left_to_its_lease) {
    world.store.give_ids_ahead();
    world.restart();
    add_operations();
    world.store.arm(1, FailingStore::How::in_doubt);
    world.store.fail_reads(1);

    EXPECT_EQ(why_of(ask()), Reason::store_unavailable);
    EXPECT_EQ(provider.keys.size(), 0U);
    EXPECT_EQ(why_of(ask()), Reason::in_progress) << "it was made, and its lease runs";

    world.clock.advance(31s);
    EXPECT_EQ(status_of(ask()), 201);
    EXPECT_EQ(world.count("orders"), 1);
}

TEST_F(StoredKeyTest, without_preallocated_ids_claims_go_on_and_ask_for_none) {
    world.store.give_ids_ahead();
    world.restart();
    add_operations();
    world.store.arm(2, FailingStore::How::refused, StoreError::Kind::statement);
    EXPECT_EQ(status_of(world.ask<Order>("a", order_of_jane)), 201);
    EXPECT_EQ(world.store.writes(), 3) << "claim, ids, keep";

    EXPECT_EQ(status_of(world.ask<Order>("b", order_of_jane)), 201);

    EXPECT_EQ(world.store.writes(), 5);
}

TEST_F(StoredKeyTest, ids_are_requested_again_after_an_outage) {
    world.store.give_ids_ahead();
    world.restart();
    add_operations();
    world.store.arm(2, FailingStore::How::undone);
    EXPECT_EQ(status_of(world.ask<Order>("a", order_of_jane)), 201);

    EXPECT_EQ(status_of(world.ask<Order>("b", order_of_jane)), 201);

    EXPECT_EQ(world.store.writes(), 6) << "claim, ids and keep, twice";
}

// An operator deleted it by hand. If the request comes again, the provider knows its key.
TEST_F(StoredKeyTest, a_key_that_is_removed_under_its_call_writes_nothing_more) {
    hold_first_call(provider);
    auto answer = world.send<Order>("k", order_of_jane);
    at_call.wait();
    world.execute("DELETE FROM pawl_idempotency_keys");
    world.execute("DELETE FROM pawl_key_registry");

    let_go.open();

    EXPECT_EQ(why_of(World::get(std::move(answer))), Reason::in_progress);
    EXPECT_EQ(world.count("payments"), 0);
}

TEST_F(StoredKeyTest, a_lost_key_that_cannot_be_queried_is_reported) {
    hold_first_call(provider);
    auto answer = world.send<Order>("k", order_of_jane);
    at_call.wait();
    world.execute("UPDATE pawl_idempotency_keys SET attempt = attempt + 1");
    world.store.fail_reads(1);

    let_go.open();

    EXPECT_EQ(why_of(World::get(std::move(answer))), Reason::store_unavailable);
    EXPECT_EQ(world.count("payments"), 0);
}

// F7, between the take-over's query and the call itself.
TEST_F(StoredKeyTest, a_provider_that_forgets_while_the_call_waits_is_not_called) {
    provider.next({Does::doubt});
    EXPECT_EQ(why_of(ask()), Reason::provider_unavailable);
    world.clock.advance(20h - 1s);
    core::on_fault_point([&](std::string_view point) {
        if (point == "engine.claim.after") world.clock.advance(2s);
    });

    EXPECT_EQ(why_of(ask()), Reason::needs_attention);

    EXPECT_EQ(provider.keys.size(), 1U);
    EXPECT_EQ(world.text("SELECT reason FROM pawl_attention"), "forgotten");
}

TEST_F(StoredKeyTest, a_second_execution_that_fails_leaves_the_key_expired) {
    const std::string thrower = R"({"customer":"jane","items":[]})";
    EXPECT_EQ(status_of(world.ask<AgainOrder>("k", thrower)), 201);
    world.clock.advance(100h);
    ASSERT_EQ((ops::Reaper{world.store, world.clock, {}}.run_once(world.clock.now()).reaped), 1);
    world.execute("DROP TABLE orders");

    EXPECT_EQ(why_of(world.ask<AgainOrder>("k", thrower)), Reason::internal);

    EXPECT_EQ(world.count("pawl_idempotency_keys"), 0);
    world.execute(std::string{shop_tables});
    EXPECT_EQ(status_of(world.ask<AgainOrder>("k", thrower)), 201);
}

TEST_F(StoredKeyTest, a_decision_is_carried_out_on_the_attempt_that_it_was_made_on) {
    provider.next({Does::doubt_charged});
    EXPECT_EQ(why_of(world.ask<OrderOnce>("k", order_of_jane)), Reason::needs_attention);
    const engine::Settlement give_up{
        .key_id = key_id(),
        .attempt = 1,
        .recovery_point = "ordered",
        .kind = engine::Settlement::Kind::give_up,
        .result_name = "",
        .result = "",
        .by = "ann"};
    auto of_another = give_up;
    of_another.attempt = 7;

    EXPECT_EQ(why_of(settle(of_another)), Reason::in_progress);
    EXPECT_EQ(world.text("SELECT status FROM pawl_idempotency_keys"), "attention");
    EXPECT_EQ(status_of(settle(give_up)), 409);
    EXPECT_EQ(why_of(settle(give_up)), Reason::in_progress) << "it was carried out";
}

TEST_F(StoredKeyTest, a_decision_on_an_unknown_point_is_reported) {
    provider.next({Does::doubt_charged});
    EXPECT_EQ(why_of(world.ask<OrderOnce>("k", order_of_jane)), Reason::needs_attention);
    world.execute("UPDATE pawl_idempotency_keys SET recovery_point = 'of_tomorrow'");

    const auto answer = settle(
        {.key_id = key_id(),
         .attempt = 1,
         .recovery_point = "of_tomorrow",
         .kind = engine::Settlement::Kind::give_up,
         .result_name = "",
         .result = "",
         .by = "ann"}
    );

    EXPECT_EQ(why_of(answer), Reason::internal);
    EXPECT_EQ(
        world.text("SELECT settling_error FROM pawl_attention"),
        "PAWL0007: recovery point of_tomorrow is unknown"
    );
}

TEST_F(StoredKeyTest, a_request_without_a_key_is_one_atomic_transaction) {
    int staged = 0;
    world.engine->on_staged([&] { ++staged; });
    world.store.arm(1, FailingStore::How::undone);

    EXPECT_EQ(why_of(note()), Reason::store_unavailable);
    EXPECT_EQ(world.count("pawl_jobs"), 0);
    EXPECT_EQ(staged, 0);
    EXPECT_EQ(body_of(note()), "a");
    EXPECT_EQ(world.count("pawl_jobs"), 1);
    EXPECT_EQ(staged, 1);
}

}  // namespace
}  // namespace pawl::testing
