#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

namespace pawl::testing {
namespace {

// in_progress = wait(max): repeats attach to the running request.
class ImpatientOrder : public Order {
public:
    static constexpr std::string_view name = "impatient_order";
    static constexpr Settings settings{.in_progress = wait(std::chrono::milliseconds{1})};
    using Order::Order;
};

class WaitTest : public ::testing::Test, protected FirstCallHeld {
protected:
    void SetUp() override {
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
        world.add(PatientOrder{provider});
        world.add(ImpatientOrder{provider});
        hold_first_call(provider);
    }
    Provider provider;
    World world;
};

TEST_F(WaitTest, all_waiters_get_the_first_answer_marked_as_replayed) {
    auto first = world.send<PatientOrder>("k", order_of_jane);
    at_call.wait();
    std::vector<std::future<Answer>> waiting;
    for (int i = 0; i < 20; ++i) waiting.push_back(world.send<PatientOrder>("k", order_of_jane));

    let_go.open();

    const auto answer = World::get(std::move(first));
    EXPECT_EQ(status_of(answer), 201);
    EXPECT_FALSE(replayed(answer));
    for (auto& one : waiting) {
        const auto got = World::get(std::move(one));
        EXPECT_EQ(body_of(got), body_of(answer));
        EXPECT_TRUE(replayed(got));
    }
    EXPECT_EQ(provider.keys.size(), 1U);
}

TEST_F(WaitTest, waiters_get_a_failure_at_once_and_the_next_request_goes_on) {
    provider.next({Does::retry});
    auto first = world.send<PatientOrder>("k", order_of_jane);
    at_call.wait();
    auto second = world.send<PatientOrder>("k", order_of_jane);

    let_go.open();

    EXPECT_EQ(why_of(World::get(std::move(first))), Reason::provider_unavailable);
    EXPECT_EQ(why_of(World::get(std::move(second))), Reason::provider_unavailable);
    EXPECT_EQ(status_of(world.ask<PatientOrder>("k", order_of_jane)), 201);
}

TEST_F(WaitTest, a_wait_ends_after_the_operations_limit) {
    auto first = world.send<ImpatientOrder>("k", order_of_jane);
    at_call.wait();

    EXPECT_EQ(why_of(world.ask<ImpatientOrder>("k", order_of_jane)), Reason::in_progress);

    let_go.open();
    EXPECT_EQ(status_of(World::get(std::move(first))), 201);
}

TEST_F(WaitTest, another_request_under_the_key_does_not_wait) {
    auto first = world.send<PatientOrder>("k", order_of_jane);
    at_call.wait();

    EXPECT_EQ(
        why_of(world.ask<PatientOrder>("k", R"({"customer":"joe","items":[]})")), Reason::key_reused
    );

    let_go.open();
    (void)World::get(std::move(first));
}

TEST_F(WaitTest, a_waiter_gets_an_answer_when_the_service_stops) {
    auto first = world.send<PatientOrder>("k", order_of_jane);
    at_call.wait();
    auto second = world.send<PatientOrder>("k", order_of_jane);
    std::jthread stopper{[&] { (void)world.engine->stop(10s); }};

    let_go.open();

    EXPECT_EQ(body_of(World::get(std::move(second))), body_of(World::get(std::move(first))));
}

// Threads arrive just when the first one ends: none is lost, and none charges.
TEST_F(
    WaitTest, a_crowd_around_the_end_of_the_first_makes_one_charge_and_leaves_nobody_without_answer
) {
    let_go.open();
    for (int round = 0; round < 20; ++round) {
        const auto key = "k" + std::to_string(round);
        std::vector<std::future<Answer>> answers(16);
        {
            std::vector<std::jthread> threads;
            for (auto& answer : answers)
                threads.emplace_back([&] { answer = world.send<PatientOrder>(key, order_of_jane); }
                );
        }
        for (auto& answer : answers) EXPECT_EQ(status_of(World::get(std::move(answer))), 201);
    }
    EXPECT_EQ(provider.charges.size(), 20U);
    EXPECT_EQ(provider.keys.size(), 20U);
}

}  // namespace
}  // namespace pawl::testing
