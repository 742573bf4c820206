#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

namespace pawl::testing {
namespace {

// Two nodes on one database: they are separated by leases and fences only.
class NodesTest : public ::testing::Test, protected FirstCallHeld {
protected:
    void SetUp() override {
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
        for (auto* node : {world.engine.get(), other.get()}) {
            World::add_to(*node, Order{provider});
            World::add_to(*node, OrderOnce{provider});
        }
    }
    void TearDown() override { other->stop(10s); }

    Provider provider;
    World world;
    std::unique_ptr<engine::Engine> other{world.another_engine()};
};

TEST_F(NodesTest, a_key_that_another_node_holds_is_busy) {
    hold_first_call(provider);
    auto first = world.send<Order>("k", order_of_jane);
    at_call.wait();

    EXPECT_EQ(
        why_of(World::get(World::send_to<Order>(*other, "k", order_of_jane))), Reason::in_progress
    );

    let_go.open();
    const auto answer = World::get(std::move(first));
    const auto again = World::get(World::send_to<Order>(*other, "k", order_of_jane));
    EXPECT_TRUE(replayed(again));
    EXPECT_EQ(body_of(again), body_of(answer));
}

TEST_F(NodesTest, another_request_under_a_key_of_another_node_is_refused_at_once) {
    hold_first_call(provider);
    auto first = world.send<Order>("k", order_of_jane);
    at_call.wait();

    const auto* of_joe = R"({"customer":"joe","items":[]})";
    EXPECT_EQ(why_of(World::get(World::send_to<Order>(*other, "k", of_joe))), Reason::key_reused);

    let_go.open();
    (void)World::get(std::move(first));
}

// The first node hung past its lease. The second takes over with the same call key and finishes;
// then the first one's write touches no row, and it returns what the second has stored.
TEST_F(NodesTest, a_node_whose_lease_ended_writes_nothing_and_returns_the_stored_answer) {
    hold_first_call(provider);
    auto first = world.send<Order>("k", order_of_jane);
    at_call.wait();
    world.clock.advance(30s);

    const auto taken_over = World::get(World::send_to<Order>(*other, "k", order_of_jane));
    EXPECT_EQ(status_of(taken_over), 201);
    EXPECT_EQ(world.number("SELECT attempt FROM pawl_idempotency_keys"), 2);
    let_go.open();
    const auto late = World::get(std::move(first));

    EXPECT_EQ(status_of(late), 201);
    EXPECT_TRUE(replayed(late));
    EXPECT_EQ(body_of(late), body_of(taken_over));
    ASSERT_EQ(provider.keys.size(), 2U);
    EXPECT_EQ(provider.keys[0], provider.keys[1]);
    EXPECT_EQ(provider.charges.size(), 1U);
    EXPECT_EQ(world.count("payments"), 1);
    EXPECT_EQ(world.count("pawl_jobs"), 1);
}

// The first node slept, and the others ended its leases before their time (docs/adr/0029). It does
// not know that yet, and asks the store all the same (found by pawl-sim --seed 20155675).
TEST_F(NodesTest, a_node_at_its_call_returns_what_another_has_answered) {
    hold_first_call(provider);
    auto first = world.send<Order>("k", order_of_jane);
    at_call.wait();
    world.execute("UPDATE pawl_idempotency_keys SET lease_until = last_run_at");
    const auto taken_over = World::get(World::send_to<Order>(*other, "k", order_of_jane));
    ASSERT_EQ(status_of(taken_over), 201);

    const auto again = World::get(world.send<Order>("k", order_of_jane));

    EXPECT_TRUE(replayed(again));
    EXPECT_EQ(body_of(again), body_of(taken_over));
    let_go.open();
    EXPECT_TRUE(replayed(World::get(std::move(first))));
    EXPECT_EQ(provider.charges.size(), 1U);
}

// Giving a key back is fenced, too (F3): a late node must not free what another has taken over.
TEST_F(NodesTest, a_late_give_back_does_not_free_the_key_of_the_node_that_took_over) {
    Gate second_at_call;
    Gate second_go;
    std::atomic<int> calls{0};
    provider.next({Does::doubt, Does::charge});
    provider.before([&] {
        const bool is_first = ++calls == 1;
        (is_first ? at_call : second_at_call).open();
        (is_first ? let_go : second_go).wait();
    });
    auto first = world.send<Order>("k", order_of_jane);
    at_call.wait();
    world.clock.advance(30s);
    auto second = World::send_to<Order>(*other, "k", order_of_jane);
    second_at_call.wait();

    let_go.open();  // Ends in doubt, and would give the key back.
    EXPECT_EQ(why_of(World::get(std::move(first))), Reason::in_progress);

    EXPECT_NE(world.text("SELECT lease_until FROM pawl_idempotency_keys"), "NULL");
    EXPECT_EQ(why_of(World::get(world.send<Order>("k", order_of_jane))), Reason::in_progress);
    second_go.open();
    EXPECT_EQ(status_of(World::get(std::move(second))), 201);
    EXPECT_EQ(world.count("payments"), 1);
}

// A call that may not be repeated hung past its lease: the other node puts the key on the attention
// list, and the late result is added there.
TEST_F(NodesTest, the_late_result_of_a_call_that_may_not_be_repeated_is_put_before_a_person) {
    hold_first_call(provider);
    auto first = world.send<OrderOnce>("k", order_of_jane);
    at_call.wait();
    world.clock.advance(30s);

    EXPECT_EQ(
        why_of(World::get(World::send_to<OrderOnce>(*other, "k", order_of_jane))),
        Reason::needs_attention
    );
    EXPECT_EQ(world.text("SELECT result FROM pawl_attention"), "NULL");
    world.store.arm(0, FailingStore::How::undone);
    let_go.open();
    EXPECT_EQ(why_of(World::get(std::move(first))), Reason::needs_attention);
    world.store.wait_for_writes(2
    );  // The keeper, which touched no row; then the result for the attention list.

    EXPECT_EQ(provider.keys.size(), 1U);
    EXPECT_EQ(world.count("payments"), 0);
    EXPECT_EQ(world.text("SELECT result_name FROM pawl_attention"), "Paid");
    EXPECT_EQ(world.text("SELECT result FROM pawl_attention"), R"({"id":"ch_1"})");
}

TEST_F(NodesTest, a_late_result_survives_one_failed_write_and_the_end_of_its_node) {
    hold_first_call(provider);
    auto first = world.send<OrderOnce>("k", order_of_jane);
    at_call.wait();
    world.clock.advance(30s);
    (void)World::get(World::send_to<OrderOnce>(*other, "k", order_of_jane));
    world.store.arm(2, FailingStore::How::undone);  // The keeper touches no row; then the result.

    let_go.open();
    EXPECT_EQ(why_of(World::get(std::move(first))), Reason::store_unavailable);
    EXPECT_TRUE(world.engine->stop(20s));

    EXPECT_EQ(world.text("SELECT result FROM pawl_attention"), R"({"id":"ch_1"})");
}

// StoredResponse as "did not happen" while the call hung, and then it happened: two charges, and
// the first would be unknown.
TEST_F(NodesTest, a_result_that_comes_after_the_settlement_is_in_the_audit_log) {
    hold_first_call(provider);
    auto first = world.send<OrderOnce>("k", order_of_jane);
    at_call.wait();
    world.clock.advance(30s);
    (void)World::get(World::send_to<OrderOnce>(*other, "k", order_of_jane));
    std::promise<Answer> settled;
    other->settle(
        {.key_id = world.number("SELECT key_id FROM pawl_attention"),
         .attempt = static_cast<int>(world.number("SELECT attempt FROM pawl_attention")),
         .recovery_point = "ordered",
         .kind = engine::Settlement::Kind::did_not_happen,
         .result_name = "",
         .result = "",
         .by = "ann"},
        [&](Answer answer) { settled.set_value(std::move(answer)); }
    );
    EXPECT_EQ(status_of(World::get(settled.get_future())), 201);

    let_go.open();

    EXPECT_TRUE(replayed(World::get(std::move(first))));
    EXPECT_EQ(
        world.text("SELECT detail FROM pawl_audit_log WHERE action = 'late result'"),
        R"(Paid {"id":"ch_1"})"
    );
}

TEST_F(NodesTest, many_threads_on_both_nodes_with_one_key_make_one_charge) {
    std::vector<std::future<Answer>> answers(32);
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < answers.size(); ++i)
            threads.emplace_back([&, i] {
                answers[i] =
                    World::send_to<Order>(i % 2 == 0 ? *world.engine : *other, "k", order_of_jane);
            });
    }

    std::set<std::string> bodies;
    for (auto& future : answers) {
        const auto answer = World::get(std::move(future));
        if (status_of(answer) == 201) bodies.insert(body_of(answer));
        EXPECT_TRUE(status_of(answer) == 201 || why_of(answer) == Reason::in_progress);
    }
    EXPECT_EQ(bodies.size(), 1U);
    EXPECT_EQ(provider.keys.size(), 1U);
    EXPECT_EQ(world.count("orders"), 1);
}

TEST_F(NodesTest, two_completers_on_one_dropped_key_finish_it_once) {
    provider.next({Does::doubt_charged});
    (void)world.ask<Order>("k", order_of_jane);
    world.clock.advance(1min);
    ops::Completer here{*world.engine, {}};
    ops::Completer there{*other, {}};
    ops::CompleterReport one;
    ops::CompleterReport two;

    {
        std::jthread thread{[&] { one = here.run_once(); }};
        two = there.run_once();
    }

    EXPECT_EQ(one.completed + two.completed, 1 + (one.completed == 1 && two.completed == 1));
    EXPECT_EQ(provider.keys.size(), 2U);
    EXPECT_EQ(provider.charges.size(), 1U);
    EXPECT_EQ(world.count("payments"), 1);
    EXPECT_EQ(world.count("pawl_jobs"), 1);
}

// One call at a time: the others wait in the queue.
class LineTest : public ::testing::Test, protected FirstCallHeld {
protected:
    void SetUp() override {
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
        world.add(Order{provider});
        world.add(OrderOnce{provider});
        hold_first_call(provider);
    }
    World world{{.calls_max = 1}};
    Provider provider;
};

// MUTANT_CALL_AFTER_LEASE of model/fused.pml: meanwhile another node may have the key, or an
// operator may have seen that there was no charge.
TEST_F(LineTest, a_call_that_waited_for_half_its_lease_is_not_made_and_can_be_made_later) {
    auto first = world.send<Order>("k1", order_of_jane);
    at_call.wait();
    world.store.arm(0, FailingStore::How::undone);
    auto second = world.send<OrderOnce>("k2", order_of_jane);
    world.store.wait_for_writes(1);
    world.clock.advance(15s);
    let_go.open();

    EXPECT_EQ(why_of(World::get(std::move(second))), Reason::overloaded);
    EXPECT_EQ(status_of(World::get(std::move(first))), 201);
    EXPECT_EQ(provider.keys.size(), 1U);
    EXPECT_EQ(status_of(world.ask<OrderOnce>("k2", order_of_jane)), 201);
    EXPECT_EQ(provider.keys.size(), 2U);
}

TEST_F(
    LineTest, what_finds_the_line_full_is_refused_before_anything_is_written_and_replays_are_not
) {
    auto first = world.send<Order>("k1", order_of_jane);
    at_call.wait();
    EXPECT_EQ(status_of(world.ask<Order>("nobody", R"({"customer":"nobody","items":[]})")), 404);
    auto second = world.send<Order>("k2", order_of_jane);
    for (int i = 0; i < 1'000 && !world.engine->calls().is_full(); ++i)
        std::this_thread::sleep_for(10ms);

    EXPECT_EQ(why_of(world.ask<Order>("k3", order_of_jane)), Reason::overloaded);
    EXPECT_EQ(world.count("pawl_key_registry"), 3);
    EXPECT_EQ(status_of(world.ask<Order>("nobody", R"({"customer":"nobody","items":[]})")), 404);

    let_go.open();
    EXPECT_EQ(status_of(World::get(std::move(first))), 201);
    EXPECT_EQ(status_of(World::get(std::move(second))), 201);
    EXPECT_EQ(status_of(world.ask<Order>("k3", order_of_jane)), 201);
}

// Issue 16, number 22. Missing threads once counted as a failure of the key, and put a healthy
// request on the attention list.
TEST(OverloadTest, a_call_without_a_free_thread_is_no_failed_run_of_the_completer) {
    World world{{.calls_max = 1}};
    world.execute(std::string{shop_tables});
    world.execute(std::string{payment_tables});
    Provider provider;
    world.add(Order{provider});
    provider.next({Does::retry, Does::retry});
    for (const auto* key : {"a", "b"}) (void)world.ask<Order>(key, order_of_jane);
    // The next failed run is one too many.
    world.execute(
        "UPDATE pawl_idempotency_keys SET completer_runs = 50, completer_first_at = "
        "'2020-01-01T00:00:00.000Z'"
    );
    world.clock.advance(1min);
    Gate at_call;
    Gate let_go;
    std::atomic<int> calls{0};
    provider.before([&] {
        if (++calls > 1) return;
        at_call.open();
        let_go.wait();
    });

    ops::CompleterReport report;
    std::jthread round{[&] { report = world.complete(); }};
    at_call.wait();
    for (int i = 0; i < 1'000 && !world.engine->calls().is_full(); ++i)
        std::this_thread::sleep_for(10ms);
    world.clock.advance(15s);  // Half of the lease of the one that waits for the thread.
    let_go.open();
    round.join();

    EXPECT_EQ(report.completed, 1);
    EXPECT_EQ(report.failed, 0);
    EXPECT_EQ(report.to_person, 0);
    EXPECT_EQ(world.count("pawl_attention"), 0);
    EXPECT_EQ(world.count("pawl_idempotency_keys WHERE completer_runs > 50"), 0);
    world.clock.advance(1min);
    EXPECT_EQ(world.complete().completed, 1) << "it is taken in the next round";
    EXPECT_EQ(provider.charges.size(), 2U);
}

// A lease is renewed while its call is in flight, so that no node takes over a slow call.
TEST(RenewalTest, the_lease_of_a_call_in_flight_is_renewed_and_not_taken_over) {
    World world{{.lease = 300ms}};
    world.execute(std::string{shop_tables});
    world.execute(std::string{payment_tables});
    Provider provider;
    world.add(Order{provider});
    const auto other = world.another_engine();
    World::add_to(*other, Order{provider});
    Gate at_call;
    Gate let_go;
    provider.before([&] {
        at_call.open();
        let_go.wait();
    });
    auto first = world.send<Order>("k", order_of_jane);
    at_call.wait();
    const auto taken = world.text("SELECT lease_until FROM pawl_idempotency_keys");
    world.clock.advance(200ms);
    world.store.arm(0, FailingStore::How::undone);

    world.store.wait_for_writes(1);
    world.clock.advance(200ms);  // Past the end of the lease as it was claimed.

    EXPECT_GT(world.text("SELECT lease_until FROM pawl_idempotency_keys"), taken);
    EXPECT_EQ(
        why_of(World::get(World::send_to<Order>(*other, "k", order_of_jane))), Reason::in_progress
    );
    let_go.open();
    EXPECT_EQ(status_of(World::get(std::move(first))), 201);
    EXPECT_EQ(provider.keys.size(), 1U);
}

}  // namespace
}  // namespace pawl::testing
