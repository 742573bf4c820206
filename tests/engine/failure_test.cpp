#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

namespace pawl::testing {
namespace {

// The database fails at each write of a request, before or after the commit; then the request is
// repeated.
class FailureTest : public ::testing::Test {
protected:
    struct Shop {
        explicit Shop() {
            world.execute(std::string{shop_tables});
            world.execute(std::string{payment_tables});
            add();
        }
        void add() {
            world.add(Order{provider});
            world.add(OrderOnce{provider});
        }
        Provider provider;
        World world;
    };

    // The number of writes of a request without failures.
    template <class Op>
    static int writes_of() {
        Shop shop;
        shop.world.store.arm(0, FailingStore::How::undone);
        EXPECT_EQ(status_of(shop.world.ask<Op>("k", order_of_jane)), 201);
        return shop.world.store.writes();
    }

    static void check_one_effect(Shop& shop, const Answer& answer) {
        EXPECT_EQ(status_of(answer), 201);
        EXPECT_EQ(shop.provider.charges.size(), 1U);
        EXPECT_EQ(shop.world.count("orders"), 1);
        EXPECT_EQ(shop.world.count("payments"), 1);
        EXPECT_EQ(shop.world.count("pawl_jobs WHERE kind = 'order_job'"), 1);
        EXPECT_EQ(shop.world.count("pawl_idempotency_keys WHERE status <> 'finished'"), 0);
        EXPECT_EQ(body_of(shop.world.ask<Order>("k", order_of_jane)), body_of(answer));
    }
};

TEST_F(FailureTest, a_ride_costs_two_commits) {
    EXPECT_EQ(writes_of<Order>(), 2);
}

TEST_F(FailureTest, a_failed_commit_anywhere_ends_in_one_effect_and_one_answer) {
    using How = FailingStore::How;
    for (const auto how : {How::undone, How::in_doubt, How::in_doubt_undone}) {
        for (int nth = 1; nth <= writes_of<Order>(); ++nth) {
            SCOPED_TRACE(std::to_string(nth) + " how " + std::to_string(static_cast<int>(how)));
            Shop shop;
            shop.world.store.arm(nth, how);

            const auto told = shop.world.ask<Order>("k", order_of_jane);
            // If a commit in doubt was committed after all, a query finds it, or the write that
            // gives the key back does: then its answer is returned at once.
            const bool found_kept = how == How::in_doubt;
            EXPECT_EQ(
                why_of(told), found_kept ? std::nullopt : std::optional{Reason::store_unavailable}
            );
            EXPECT_EQ(status_of(told), found_kept ? 201 : 0);

            check_one_effect(shop, shop.world.ask_until_settled<Order>("k", order_of_jane));
        }
    }
}

TEST_F(FailureTest, two_failed_commits_in_a_row_end_in_one_effect_and_one_answer) {
    for (int first = 1; first <= 2; ++first) {
        for (int second = 1; second <= 3; ++second) {
            SCOPED_TRACE(std::to_string(first) + " then " + std::to_string(second));
            Shop shop;
            shop.world.store.arm(first, FailingStore::How::in_doubt);
            (void)shop.world.ask<Order>("k", order_of_jane);
            shop.world.clock.advance(31s);
            shop.world.store.arm(second, FailingStore::How::undone);
            (void)shop.world.ask<Order>("k", order_of_jane);

            check_one_effect(shop, shop.world.ask_until_settled<Order>("k", order_of_jane));
        }
    }
}

TEST_F(FailureTest, after_a_failed_commit_the_completer_finishes_what_the_client_dropped) {
    for (const auto how : {FailingStore::How::undone, FailingStore::How::in_doubt}) {
        Shop shop;
        shop.world.store.arm(2, how);
        (void)shop.world.ask<Order>("k", order_of_jane);
        shop.world.clock.advance(1h);

        (void)shop.world.complete();

        check_one_effect(shop, shop.world.ask<Order>("k", order_of_jane));
    }
}

TEST_F(FailureTest, a_result_that_cannot_be_asked_for_again_survives_a_failed_commit) {
    for (const auto how : {FailingStore::How::undone, FailingStore::How::in_doubt}) {
        for (int nth = 1; nth <= 2; ++nth) {
            SCOPED_TRACE(nth);
            Shop shop;
            shop.world.store.arm(nth, how);
            (void)shop.world.ask<OrderOnce>("k", order_of_jane);
            shop.world.clock.advance(1h);
            // The process still has the result in memory, and tries to store it.
            Answer answer;
            do {
                answer = shop.world.ask<OrderOnce>("k", order_of_jane);
            } while (why_of(answer) == Reason::in_progress);

            EXPECT_LE(shop.provider.charges.size(), 1U);
            if (why_of(answer) == Reason::needs_attention) {
                EXPECT_EQ(shop.world.count("pawl_attention"), 1);
            } else {
                EXPECT_EQ(status_of(answer), 201);
                EXPECT_EQ(shop.world.count("payments"), 1);
            }
            shop.world.stop();  // Also runs the write that stores the result a second later.
            // The result was put on the attention list, as it contradicts the decision, in a commit
            // of its own.
            EXPECT_EQ(shop.world.count("pawl_audit_log WHERE action = 'late result'"), 0);
        }
    }
}

// An attempt that was suspended past its lease must not write: every statement is fenced.
TEST_F(FailureTest, an_old_attempt_writes_nothing_after_a_take_over) {
    Shop shop;
    Gate at_call;
    Gate let_go;
    std::atomic<int> calls{0};
    shop.provider.before([&] {
        if (++calls > 1) return;
        at_call.open();
        let_go.wait();
    });
    auto first = shop.world.send<Order>("k", order_of_jane);
    at_call.wait();
    shop.world.execute(
        "UPDATE pawl_idempotency_keys SET attempt = attempt + 1, lease_until = "
        "'2099-01-01T00:00:00.000Z'"
    );
    let_go.open();

    EXPECT_EQ(why_of(World::get(std::move(first))), Reason::in_progress);

    EXPECT_EQ(shop.world.count("payments"), 0);
    EXPECT_EQ(shop.world.text("SELECT recovery_point FROM pawl_idempotency_keys"), "ordered");
}

TEST_F(FailureTest, a_stop_during_a_call_loses_nothing) {
    Shop shop;
    Gate at_call;
    Gate let_go;
    shop.provider.before([&] {
        at_call.open();
        let_go.wait();
    });
    auto first = shop.world.send<Order>("k", order_of_jane);
    at_call.wait();
    std::jthread stopper{[&] { (void)shop.world.engine->stop(10s); }};
    let_go.open();
    const auto told = World::get(std::move(first));
    stopper.join();
    EXPECT_TRUE(status_of(told) == 201 || why_of(told) == Reason::stopping) << status_of(told);
    shop.provider.before({});

    shop.world.restart();
    shop.add();

    const auto answer = shop.world.ask_until_settled<Order>("k", order_of_jane);
    check_one_effect(shop, answer);
    if (status_of(told) == 201) {
        EXPECT_EQ(body_of(told), body_of(answer));
    }
}

TEST_F(FailureTest, a_stopped_engine_refuses_new_requests) {
    Shop shop;
    EXPECT_TRUE(shop.world.engine->stop(10s));

    EXPECT_EQ(why_of(shop.world.ask<Order>("k", order_of_jane)), Reason::stopping);
    EXPECT_EQ(shop.world.count("pawl_key_registry"), 0);
}

}  // namespace
}  // namespace pawl::testing
