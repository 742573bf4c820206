#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

namespace pawl::testing {
namespace {

// Waits in its call until the stop, and then reports that it did nothing.
class HeedingOrder : public OrderSteps {
public:
    static constexpr std::string_view name = "heeding_order";
    HeedingOrder(Provider& provider, Gate& at_call) : OrderSteps{provider}, at_call_{&at_call} {}
    Outcome<Paid, Refused402> pay(Call& call, const Ordered&) {
        std::promise<void> stopped;
        at_call_->open();
        const std::stop_callback on_stop{call.stop(), [&] { stopped.set_value(); }};
        if (stopped.get_future().wait_for(20s) != std::future_status::ready)
            return InDoubt{"nobody told it to stop"};
        return Retry{"the service was stopping"};
    }
    using Flow = Steps<
        Atomic<&HeedingOrder::write_order>,
        Foreign<
            Repeat::never,
            &HeedingOrder::pay,
            &HeedingOrder::keep_payment,
            &HeedingOrder::keep_refusal>,
        Atomic<&HeedingOrder::finish>>;

private:
    Gate* at_call_;
};

class StopTest : public ::testing::Test, protected FirstCallHeld {
protected:
    void SetUp() override {
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
        world.add(Order{provider});
        world.add(OrderOnce{provider});
        world.add(HeedingOrder{provider, heeding});
        hold_first_call(provider);
    }
    Provider provider;
    Gate heeding;
    World world;
};

TEST_F(StopTest, waits_for_requests_in_flight) {
    auto first = world.send<Order>("k", order_of_jane);
    at_call.wait();
    std::atomic<bool> drained{false};
    std::jthread stopper{[&] { drained = world.engine->stop(20s); }};

    let_go.open();
    stopper.join();

    EXPECT_TRUE(drained);
    EXPECT_EQ(status_of(World::get(std::move(first))), 201);
    EXPECT_EQ(world.engine->keys_in_flight(), 0U);
}

TEST_F(StopTest, reports_that_a_call_outlasts_its_limit) {
    auto first = world.send<Order>("k", order_of_jane);
    at_call.wait();

    EXPECT_FALSE(world.engine->stop(10ms));
    EXPECT_EQ(world.engine->keys_in_flight(), 1U);

    let_go.open();
    EXPECT_EQ(status_of(World::get(std::move(first))), 201);  // Late, but not lost.
}

// Issue 16, number 19.
TEST_F(StopTest, reports_which_calls_have_no_recorded_end) {
    auto first = world.send<Order>("k", order_of_jane);
    at_call.wait();
    EXPECT_FALSE(world.engine->stop(10ms));
    const auto left = world.engine->in_flight_calls().report();
    let_go.open();
    (void)World::get(std::move(first));

    EXPECT_EQ(left.count, 1U);
    EXPECT_EQ(left.keys, world.text("SELECT CAST(id AS TEXT) FROM pawl_idempotency_keys"));
}

TEST_F(StopTest, reports_which_calls_ended_in_doubt_while_it_waited) {
    provider.next({Does::doubt, Does::doubt_charged});
    let_go.open();
    (void)world.ask<OrderOnce>("before", order_of_jane);  // Finished before the stop: not reported.
    EXPECT_EQ(world.engine->in_flight_calls().report().count, 0U);
    Gate at_second;
    Gate second_let_go;
    provider.before([&] {
        at_second.open();
        second_let_go.wait();
    });
    auto second = world.send<OrderOnce>("k", order_of_jane);
    at_second.wait();
    world.engine->refuse_new();  // The stop has begun.
    second_let_go.open();

    EXPECT_EQ(why_of(World::get(std::move(second))), Reason::needs_attention);
    const auto left = world.engine->in_flight_calls().report();
    EXPECT_EQ(left.count, 1U);
    EXPECT_EQ(
        left.keys,
        world.text("SELECT CAST(id AS TEXT) FROM pawl_idempotency_keys WHERE idempotency_key = 'k'")
    );
}

// Within its limit, so that the proof of not having called is still written.
TEST_F(StopTest, a_call_that_heeds_the_stop_gives_its_key_back_in_time) {
    auto first = world.send<HeedingOrder>("k", order_of_jane);
    heeding.wait();

    EXPECT_TRUE(world.engine->stop(20s));

    EXPECT_EQ(why_of(World::get(std::move(first))), Reason::provider_unavailable);
    EXPECT_EQ(world.text("SELECT lease_until FROM pawl_idempotency_keys"), "NULL");
    EXPECT_EQ(world.number("SELECT calling FROM pawl_idempotency_keys"), 0);
}

// One thread for calls: the second request waits when the service stops.
TEST(StopLineTest, a_call_that_has_not_begun_is_not_made_and_its_key_is_free_at_the_next_start) {
    World world{{.calls_max = 1}};
    world.execute(std::string{shop_tables});
    world.execute(std::string{payment_tables});
    Provider provider;
    Gate at_call;
    Gate let_go;
    provider.before([&] {
        if (!provider.keys.empty()) return;
        at_call.open();
        let_go.wait();
    });
    world.add(OrderOnce{provider});
    auto first = world.send<OrderOnce>("first", order_of_jane);
    at_call.wait();
    auto second = world.send<OrderOnce>("second", order_of_jane);
    EXPECT_FALSE(world.engine->stop(10ms));

    let_go.open();

    EXPECT_EQ(status_of(World::get(std::move(first))), 201);
    EXPECT_EQ(why_of(World::get(std::move(second))), Reason::stopping);
    world.restart();
    world.add(OrderOnce{provider});
    EXPECT_EQ(status_of(world.ask<OrderOnce>("second", order_of_jane)), 201);
    EXPECT_EQ(provider.charges.size(), 2U);
}

// The engine ends while a call hangs: it waits for the call's result, and until the answer is
// stored.
TEST_F(StopTest, the_end_of_the_engine_waits_for_every_attempt_and_its_commit) {
    auto first = world.send<Order>("k", order_of_jane);
    at_call.wait();
    std::jthread ender{[&] { world.engine.reset(); }};

    let_go.open();
    ender.join();

    ASSERT_EQ(first.wait_for(0s), std::future_status::ready);
    EXPECT_EQ(status_of(first.get()), 201);
    EXPECT_EQ(world.count("payments"), 1);
}

TEST_F(StopTest, the_engine_ends_even_if_a_result_cannot_be_stored) {
    auto first = world.send<OrderOnce>("k", order_of_jane);
    at_call.wait();
    world.store.arm_some(1, 1'000, FailingStore::How::refused);
    std::jthread ender{[&] { world.engine.reset(); }};

    let_go.open();
    ender.join();

    ASSERT_EQ(first.wait_for(0s), std::future_status::ready);
    EXPECT_EQ(why_of(first.get()), Reason::store_unavailable);
    world.store.arm(0, FailingStore::How::refused);
    world.restart();
    world.add(OrderOnce{provider});
    world.clock.advance(30s);
    EXPECT_EQ(why_of(world.ask<OrderOnce>("k", order_of_jane)), Reason::needs_attention);
    EXPECT_EQ(provider.keys.size(), 1U);
}

// Without a key, and so in no list of keys.
class Rename {
public:
    static constexpr std::string_view name = "rename";
    static constexpr Settings settings{.key = KeyRule::none};
    explicit Rename(Gate& at_phase, Gate& let_go) : at_phase_{&at_phase}, let_go_{&let_go} {}
    using Started = pawl::Started<OrderRequest>;
    Finish write(Tx& tx, const Started& at) {
        at_phase_->open();
        let_go_->wait();
        static constexpr Statement<2> insert{
            "insert_order", "INSERT INTO orders (key_id, customer) VALUES ($1, $2)", {}};
        execute(tx, insert, at.key_id, at.request.customer);
        return answer(204, std::string{});
    }
    using Flow = Steps<Atomic<&Rename::write>>;

private:
    Gate* at_phase_;
    Gate* let_go_;
};

TEST_F(StopTest, waits_for_requests_without_a_key) {
    world.add(Rename{at_call, let_go});
    auto made = world.request<Rename>("", order_of_jane);
    std::promise<Answer> ended;
    auto answer = ended.get_future();
    world.engine->handle_unkeyed(
        *made.operation,
        {0, made.principal, made.origin},
        made.request,
        [&](Answer got) { ended.set_value(std::move(got)); }
    );
    at_call.wait();
    std::jthread ender{[&] { world.engine.reset(); }};

    let_go.open();
    ender.join();

    ASSERT_EQ(answer.wait_for(0s), std::future_status::ready);
    EXPECT_EQ(status_of(answer.get()), 204);
    EXPECT_EQ(world.count("orders"), 1);
}

}  // namespace
}  // namespace pawl::testing
