#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

namespace pawl::testing {

namespace {

class TimelineTest : public ::testing::Test {
protected:
    void SetUp() override {
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
        world.add(Order{provider});
    }
    // What happened, in order.
    std::string told() {
        return world.text(
            "SELECT coalesce(group_concat(what, ' '), '') FROM ("
            "SELECT e.value ->> '$.what' AS what "
            "FROM pawl_key_events AS t, json_each(t.events, '$.events') AS e "
            "ORDER BY t.key_id, t.attempt, t.part, e.key)"
        );
    }
    Provider provider;
    World world;
};

}  // namespace

TEST_F(TimelineTest, tells_each_event_once) {
    EXPECT_EQ(status_of(world.ask<Order>("k", order_of_jane)), 201);

    EXPECT_EQ(told(), "claimed phase called kept phase answered");
}

TEST_F(TimelineTest, tells_of_a_call_that_failed_and_of_the_next_attempt_once) {
    provider.next({Does::retry});
    (void)world.ask<Order>("k", order_of_jane);
    EXPECT_EQ(status_of(world.ask<Order>("k", order_of_jane)), 201);

    EXPECT_EQ(told(), "claimed phase called released taken-over called kept phase answered");
}

}  // namespace pawl::testing
