#include "src/engine/renewals.hpp"

#include "tests/engine/hand_timers.hpp"

#include <gtest/gtest.h>

#include <exception>
#include <string_view>

namespace pawl::engine {
namespace {

using namespace std::chrono_literals;

// Counts the writes, and fails those that the test chooses.
class CountedWrites final : public store::Store {
public:
    using store::Store::write;
    void write(std::unique_ptr<store::Work> work, store::Urgency) override {
        ++count;
        work->done(
            fails ? std::make_exception_ptr(StoreError{
                        StoreError::Kind::unavailable, StoreError::Effect::none, "", "away"})
                  : nullptr
        );
    }
    void read(std::unique_ptr<store::Work>) override {}
    std::string_view text_of(const Sql&) const override { return {}; }
    void stop() override {}
    int count{0};
    bool fails{false};
};

// A lease of 600 ms: a tick each 100 ms, a renewal each 200.
class RenewalsTest : public ::testing::Test {
protected:
    int renewed_at_next_look() {
        const int before = store.count;
        clock.at += 100ms;
        timers.pass(100ms);
        return store.count - before;
    }
    core::Moment now() { return clock.moment(); }
    base::StillClock clock;
    CountedWrites store;
    HandTimers timers;
    Renewals renewals{store, clock, timers, 600ms};
};

TEST_F(RenewalsTest, a_lease_is_renewed_at_each_third_of_it_until_its_end) {
    renewals.begin({1, 1, "charge"}, now());

    EXPECT_EQ(renewed_at_next_look(), 0);
    EXPECT_EQ(renewed_at_next_look(), 1);
    EXPECT_EQ(renewed_at_next_look(), 0);
    EXPECT_EQ(renewed_at_next_look(), 1);
    renewals.end(1);
    EXPECT_EQ(renewed_at_next_look(), 0);
    EXPECT_EQ(renewed_at_next_look(), 0);
}

// Found by reading: it was tried again after a third of a lease, and two failures lost the lease.
TEST_F(RenewalsTest, a_failed_renewal_is_repeated_at_the_next_tick) {
    renewals.begin({1, 1, "charge"}, now());
    store.fails = true;
    EXPECT_EQ(renewed_at_next_look(), 0);
    EXPECT_EQ(renewed_at_next_look(), 1);

    EXPECT_EQ(renewed_at_next_look(), 1);
    store.fails = false;
    EXPECT_EQ(renewed_at_next_look(), 1);
    EXPECT_EQ(renewed_at_next_look(), 0) << "a third of a lease from the one that went well";
}

// The writes here touch no row: another server has the key.
TEST_F(RenewalsTest, a_lease_lasts_as_long_as_the_database_has_confirmed) {
    const auto lease = renewals.begin({1, 1, "charge"}, now());
    clock.at += 599ms;
    EXPECT_TRUE(lease->lasts());
    EXPECT_EQ(renewed_at_next_look(), 1);

    EXPECT_FALSE(lease->lasts());
}

}  // namespace
}  // namespace pawl::engine
