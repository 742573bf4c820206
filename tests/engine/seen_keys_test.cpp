#include "src/engine/seen_keys.hpp"

#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

namespace pawl::testing {
namespace {

using engine::SeenKeys;
using Guess = SeenKeys::Guess;

std::string hash_of(int n) {
    return engine::key_hash({"tenant", "account", std::to_string(n)});
}

TEST(KeyCacheTest, a_key_is_guessed_new_until_it_was_met) {
    SeenKeys look;

    EXPECT_EQ(look.guess(hash_of(1)), Guess::is_new);
    EXPECT_EQ(look.guess(hash_of(1)), Guess::is_known);
    EXPECT_EQ(look.guess(hash_of(2)), Guess::is_new);
}

TEST(KeyCacheTest, if_many_turn_out_to_be_known_none_is_guessed_new) {
    SeenKeys look;
    for (int i = 0; i < 15; ++i) look.record_outcome(true);
    EXPECT_EQ(look.guess(hash_of(1)), Guess::is_new);

    look.record_outcome(true);

    EXPECT_EQ(look.guess(hash_of(2)), Guess::may_be);
    EXPECT_EQ(look.guess(hash_of(2)), Guess::is_known);
}

TEST(KeyCacheTest, if_most_are_new_again_keys_are_guessed_new_again) {
    SeenKeys look;
    for (int i = 0; i < 1'000; ++i) look.record_outcome(true);

    for (int i = 0; i < 65; ++i) look.record_outcome(false);

    EXPECT_EQ(look.guess(hash_of(1)), Guess::is_new);
}

TEST(KeyCacheTest, one_known_key_in_ten_causes_no_query_for_all) {
    SeenKeys look;
    for (int i = 0; i < 10'000; ++i) look.record_outcome(i % 10 == 0);

    EXPECT_EQ(look.guess(hash_of(1)), Guess::is_new);
}

// How an attempt uses it.
class KeyCacheOfAttemptTest : public ::testing::Test {
protected:
    void SetUp() override {
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
        world.store.give_ids_ahead();
        world.restart();
        other = world.another_engine();
        world.add(Order{provider});
        World::add_to(*other, Order{provider});
    }
    Answer ask_other(const std::string& key) {
        return World::get(World::send_to<Order>(*other, key, order_of_jane));
    }
    int reads_of(const std::function<void()>& f) {
        const auto before = world.store.reads();
        f();
        return world.store.reads() - before;
    }
    Provider provider;
    World world;
    std::unique_ptr<engine::Engine> other;
};

TEST_F(KeyCacheOfAttemptTest, a_new_key_is_claimed_without_a_query_and_a_repeat_is_queried) {
    EXPECT_EQ(reads_of([&] { (void)world.ask<Order>("k", order_of_jane); }), 0);
    EXPECT_EQ(reads_of([&] { (void)world.ask<Order>("k", order_of_jane); }), 1);
}

TEST_F(KeyCacheOfAttemptTest, a_repeat_in_another_process_is_found_by_its_claim) {
    const auto first = world.ask<Order>("k", order_of_jane);

    EXPECT_EQ(
        reads_of([&] {
            const auto again = ask_other("k");
            EXPECT_TRUE(replayed(again));
            EXPECT_EQ(body_of(again), body_of(first));
        }),
        0
    );
    EXPECT_EQ(provider.charges.size(), 1U);
}

TEST_F(KeyCacheOfAttemptTest, a_repeat_is_answered_if_the_store_is_read_only) {
    (void)world.ask<Order>("k", order_of_jane);

    world.store.arm(1, FailingStore::How::refused, StoreError::Kind::full);
    const auto again = ask_other("k");

    EXPECT_TRUE(replayed(again));
}

// Found with it: the lock was on another key's id, and this key had its answer.
TEST_F(KeyCacheOfAttemptTest, a_repeat_whose_claim_met_a_lock_is_answered) {
    (void)world.ask<Order>("k", order_of_jane);

    world.store.fail_in(sql::claim_key.name);
    world.store.arm(1, FailingStore::How::undone, StoreError::Kind::locked);
    const auto again = ask_other("k");

    EXPECT_TRUE(replayed(again));
}

TEST_F(KeyCacheOfAttemptTest, a_new_key_is_refused_if_the_store_is_read_only) {
    world.store.arm(1, FailingStore::How::refused, StoreError::Kind::full);

    EXPECT_EQ(why_of(ask_other("k")), Reason::store_unavailable);
    EXPECT_EQ(status_of(ask_other("k")), 201);
}

TEST_F(KeyCacheOfAttemptTest, many_repeats_from_other_processes_are_queried_first) {
    for (int i = 0; i < 30; ++i) (void)world.ask<Order>("k" + std::to_string(i), order_of_jane);

    world.store.arm(0, FailingStore::How::refused);
    const int reads = reads_of([&] {
        for (int i = 0; i < 30; ++i) EXPECT_TRUE(replayed(ask_other("k" + std::to_string(i)))) << i;
    });

    // Claims fail until SeenKeys stops guessing; then each is only a query.
    EXPECT_LE(world.store.writes(), 16 + 1);
    EXPECT_GE(reads, 30 - 16);
}

}  // namespace
}  // namespace pawl::testing
