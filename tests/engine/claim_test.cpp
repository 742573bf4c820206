#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

namespace pawl::testing {
namespace {

// Who gets a key, and what other requests are answered (docs/design.md part 4).
class ClaimTest : public ::testing::Test {
protected:
    void SetUp() override {
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
        add_all();
    }
    void add_all() {
        world.add(Order{provider});
        world.add(PatientOrder{provider});
    }
    Provider provider;
    World world;
};

TEST_F(ClaimTest, a_repeat_gets_the_same_bytes_and_charges_nothing) {
    const auto first = world.ask<Order>("k", order_of_jane);
    const auto again = world.ask<Order>("k", order_of_jane);

    EXPECT_EQ(status_of(first), 201);
    EXPECT_FALSE(replayed(first));
    EXPECT_TRUE(replayed(again));
    EXPECT_EQ(body_of(again), body_of(first));
    EXPECT_EQ(provider.keys.size(), 1U);
    EXPECT_EQ(world.count("orders"), 1);
}

// history_check.py, C2: while one repeat queried the answer, all others were told to come again.
TEST_F(ClaimTest, concurrent_repeats_all_get_the_answer) {
    const auto first = body_of(world.ask<Order>("k", order_of_jane));
    std::atomic<int> otherwise{0};
    {
        std::vector<std::jthread> clients;
        for (int i = 0; i < 8; ++i)
            clients.emplace_back([&, same = i % 2 == 0] {
                const auto* order = same ? order_of_jane : R"({"customer":"joe","items":[]})";
                for (int n = 0; n < 200; ++n) {
                    const auto answer = world.ask<Order>("k", order);
                    const auto* refused = std::get_if<Rejection>(&answer);
                    const bool right =
                        same ? refused == nullptr && body_of(answer) == first
                             : refused != nullptr && refused->reason == Reason::key_reused;
                    if (!right) ++otherwise;
                }
            });
    }
    EXPECT_EQ(otherwise, 0);
}

// Found by history_check.py, C2, in chaos on PostgreSQL: when the query of a second repeat failed,
// it got 409 for a key that had its answer.
TEST_F(ClaimTest, a_second_repeat_is_not_told_to_wait_if_its_query_fails) {
    (void)world.ask<Order>("k", order_of_jane);
    world.store.hold_next_read();
    auto first = world.send<Order>("k", order_of_jane);
    world.store.fail_reads(1);

    EXPECT_EQ(why_of(world.ask<Order>("k", order_of_jane)), Reason::store_unavailable);

    world.store.let_read_go();
    EXPECT_TRUE(replayed(World::get(std::move(first))));
}

TEST_F(ClaimTest, a_refusal_is_stored_as_an_answer_too) {
    provider.next({Does::decline});

    EXPECT_EQ(status_of(world.ask<Order>("k", order_of_jane)), 402);
    EXPECT_TRUE(replayed(world.ask<Order>("k", order_of_jane)));
    EXPECT_EQ(provider.keys.size(), 1U);
}

TEST_F(ClaimTest, another_request_under_the_key_is_refused) {
    (void)world.ask<Order>("k", order_of_jane);

    EXPECT_EQ(
        why_of(world.ask<Order>("k", R"({"customer":"joe","items":[]})")), Reason::key_reused
    );
    EXPECT_EQ(world.count("orders"), 1);
}

TEST_F(ClaimTest, the_same_key_of_another_account_is_another_key) {
    (void)world.ask<Order>("k", order_of_jane);

    EXPECT_FALSE(replayed(world.ask<Order>("k", order_of_jane, "joe")));
    EXPECT_EQ(provider.charges.size(), 2U);
}

TEST_F(ClaimTest, a_second_request_gets_in_progress_while_the_first_runs) {
    Gate at_call;
    Gate let_go;
    provider.before([&] {
        at_call.open();
        let_go.wait();
    });
    auto first = world.send<Order>("k", order_of_jane);
    at_call.wait();

    EXPECT_EQ(why_of(world.ask<Order>("k", order_of_jane)), Reason::in_progress);

    let_go.open();
    EXPECT_EQ(status_of(World::get(std::move(first))), 201);
}

TEST_F(ClaimTest, a_patient_operation_lets_the_second_wait_for_the_first_answer) {
    Gate at_call;
    Gate let_go;
    provider.before([&] {
        at_call.open();
        let_go.wait();
    });
    auto first = world.send<PatientOrder>("k", order_of_jane);
    at_call.wait();
    auto second = world.send<PatientOrder>("k", order_of_jane);
    EXPECT_EQ(second.wait_for(0s), std::future_status::timeout);

    let_go.open();

    const auto answer = World::get(std::move(first));
    EXPECT_EQ(body_of(World::get(std::move(second))), body_of(answer));
    EXPECT_EQ(provider.keys.size(), 1U);
}

TEST_F(ClaimTest, a_key_under_a_lease_of_a_dead_process_is_busy_until_the_lease_is_over) {
    provider.next({Does::retry});
    (void)world.ask<Order>("k", order_of_jane);
    world.execute(
        "UPDATE pawl_idempotency_keys SET lease_until = '" +
        world.text("SELECT '2027-01-15T08:00:20.000Z'") + "'"
    );
    world.restart();
    add_all();

    EXPECT_EQ(why_of(world.ask<Order>("k", order_of_jane)), Reason::in_progress);
    world.clock.advance(20s);
    EXPECT_EQ(status_of(world.ask<Order>("k", order_of_jane)), 201);
}

TEST_F(ClaimTest, a_lease_that_ends_later_than_possible_is_over) {
    provider.next({Does::retry});
    (void)world.ask<Order>("k", order_of_jane);
    world.execute("UPDATE pawl_idempotency_keys SET lease_until = '2099-01-01T00:00:00.000Z'");

    EXPECT_EQ(status_of(world.ask<Order>("k", order_of_jane)), 201);
}

TEST_F(ClaimTest, an_expired_key_is_refused_with_its_old_outcome) {
    (void)world.ask<Order>("k", order_of_jane);
    world.clock.advance(std::chrono::hours{73});
    ops::Reaper reaper{world.store, world.clock, {}};
    EXPECT_EQ(reaper.run_once(world.clock.now()).reaped, 1);

    const auto answer = world.ask<Order>("k", order_of_jane);

    ASSERT_EQ(why_of(answer), Reason::key_expired);
    EXPECT_EQ(std::get<Rejection>(answer).outcome, 201);
    EXPECT_EQ(provider.keys.size(), 1U);
}

TEST_F(ClaimTest, a_phase_that_answers_at_once_needs_no_call) {
    EXPECT_EQ(status_of(world.ask<Order>("k", R"({"customer":"nobody","items":[]})")), 404);
    EXPECT_TRUE(replayed(world.ask<Order>("k", R"({"customer":"nobody","items":[]})")));
    EXPECT_TRUE(provider.keys.empty());
}

TEST_F(ClaimTest, a_phase_that_throws_leaves_only_the_key_with_its_error) {
    const auto* request = R"({"customer":"thrower","items":[]})";

    EXPECT_EQ(why_of(world.ask<Order>("k", request)), Reason::internal);

    EXPECT_EQ(world.count("orders"), 0);
    EXPECT_EQ(world.text("SELECT recovery_point FROM pawl_idempotency_keys"), "started");
    EXPECT_NE(
        world.text("SELECT error FROM pawl_idempotency_keys").find("a bug in the first phase"),
        std::string::npos
    );
    EXPECT_EQ(why_of(world.ask<Order>("k", request)), Reason::internal);
    EXPECT_EQ(world.number("SELECT attempt FROM pawl_idempotency_keys"), 2);
}

TEST_F(ClaimTest, thirty_two_threads_with_one_key_make_one_charge) {
    std::vector<std::future<Answer>> answers;
    std::vector<std::jthread> threads;
    std::mutex mutex;
    for (int i = 0; i < 32; ++i)
        threads.emplace_back([&] {
            auto future = world.send<Order>("k", order_of_jane);
            const std::lock_guard lock{mutex};
            answers.push_back(std::move(future));
        });
    threads.clear();

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

}  // namespace
}  // namespace pawl::testing
