#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

namespace pawl::testing {
namespace {

// Every write of a request fails, alone or with some after it, with every kind of temporary error
// and in every way; the client asks again until it has its answer.
class StoreErrorTest : public ::testing::Test {
protected:
    using How = FailingStore::How;
    using Kind = StoreError::Kind;
    struct Case {
        int first;
        int last;
        How how;
        Kind kind;
    };
    static std::vector<Case> cases() {
        std::vector<Case> all;
        for (const auto how : {How::refused, How::undone, How::in_doubt})
            for (const auto kind :
                 {Kind::unavailable,
                  Kind::full,
                  Kind::read_only,
                  Kind::busy,
                  Kind::locked,  // A phase's own; it was reported as a key in progress.
                  Kind::contention,
                  Kind::deadline})
                for (int first = 1; first <= 4; ++first)
                    for (const int many : {1, 2, 5})
                        all.push_back({first, first + many - 1, how, kind});
        return all;
    }
    static std::string text_of(const Case& c) {
        const std::vector<std::string> hows{"refused", "undone", "in doubt"};
        return "writes " + std::to_string(c.first) + " to " + std::to_string(c.last) + " " +
               hows.at(static_cast<std::size_t>(c.how)) + ", kind " +
               std::to_string(static_cast<int>(c.kind));
    }
    static Reason why_of_kind(Kind kind) {
        if (kind == Kind::contention || kind == Kind::locked) return Reason::contention;
        if (kind == Kind::deadline) return Reason::phase_deadline;
        return kind == Kind::busy ? Reason::overloaded : Reason::store_unavailable;
    }
};

TEST_F(StoreErrorTest, no_failure_of_the_store_loses_or_doubles_an_effect_of_an_order) {
    for (const auto& c : cases()) {
        SCOPED_TRACE(text_of(c));
        Provider provider;
        World world;
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
        world.add(Order{provider});
        provider.next({Does::doubt_charged});
        world.store.arm_some(c.first, c.last, c.how, c.kind);

        Answer answer;
        for (int i = 0; i < 30; ++i) {
            answer = world.ask<Order>("k", order_of_jane);
            if (std::holds_alternative<StoredResponse>(answer)) break;
            const auto why = *why_of(answer);
            EXPECT_TRUE(
                why == why_of_kind(c.kind) || why == Reason::provider_unavailable ||
                why == Reason::in_progress
            ) << static_cast<int>(why);
            world.clock.advance(30s);
        }

        EXPECT_EQ(status_of(answer), 201);
        EXPECT_EQ(body_of(world.ask<Order>("k", order_of_jane)), body_of(answer));
        EXPECT_EQ(provider.charges.size(), 1U);
        EXPECT_EQ(world.count("orders"), 1);
        EXPECT_EQ(world.count("payments"), 1);
        EXPECT_EQ(world.count("pawl_jobs"), 1);
        EXPECT_EQ(
            world.count("pawl_idempotency_keys WHERE status = 'finished' AND error IS NULL"), 1
        );
    }
}

// A bug of the program is not temporary: 500, recorded, and nothing else is written.
TEST_F(StoreErrorTest, a_fault_of_the_program_is_recorded_with_the_key) {
    for (const auto kind : {Kind::constraint, Kind::statement, Kind::refused}) {
        Provider provider;
        World world;
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
        world.add(Order{provider});
        world.store.arm(1, How::undone, kind);

        EXPECT_EQ(why_of(world.ask<Order>("k", order_of_jane)), Reason::internal);

        EXPECT_EQ(
            world.text("SELECT status || ' ' || recovery_point || ' ' || error FROM "
                       "pawl_idempotency_keys"),
            "open started a planted failure"
        );
        EXPECT_EQ(world.count("orders"), 0);
        EXPECT_EQ(status_of(world.ask<Order>("k", order_of_jane)), 201);
        EXPECT_EQ(provider.charges.size(), 1U);
    }
}

}  // namespace
}  // namespace pawl::testing
