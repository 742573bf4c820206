#include <pawl/lease.hpp>
#include <pawl/locks.hpp>
#include <pawl/testing.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>

// Leases as a program has them, on SQLite in memory.
namespace pawl {
namespace {

using ::testing::HasSubstr;

template <class F>
std::string why_invalid(F f) {
    try {
        f();
    } catch (const std::logic_error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST(Leases, one_holder_has_it_until_it_is_given_back) {
    pawl::testing::TestDatabase database;
    Leases leases{database.database()};
    Leases of_another{database.database()};

    auto lease = leases.try_acquire("report");
    ASSERT_TRUE(lease);
    EXPECT_TRUE(lease->is_held());
    EXPECT_FALSE(of_another.try_acquire("report"));
    EXPECT_FALSE(leases.try_acquire("report")) << "nor twice by one process";
    EXPECT_TRUE(leases.try_acquire("mails"));
    EXPECT_TRUE(lease->release());
    EXPECT_FALSE(lease->is_held());

    const auto next = of_another.acquire("report", 5s);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->name(), "report");
    EXPECT_EQ(next->fencing_token().epoch(), 2);
}

TEST(Leases, a_lease_ends_with_its_object_and_can_be_moved) {
    pawl::testing::TestDatabase database;
    Leases leases{database.database()};
    {
        auto lease = leases.try_acquire("report");
        auto moved = std::move(*lease);
        lease.reset();
        EXPECT_TRUE(moved.is_held());
        EXPECT_FALSE(leases.try_acquire("report"));
        auto other = leases.try_acquire("mails");
        *other = std::move(moved);
        EXPECT_EQ(other->name(), "report");
        EXPECT_TRUE(leases.try_acquire("mails")) << "what it held before is released";
    }

    EXPECT_TRUE(leases.try_acquire("report"));
}

TEST(Leases, a_lease_outlives_its_leases_object) {
    pawl::testing::TestDatabase database;
    auto leases = std::make_unique<Leases>(database.database());
    auto lease = leases->try_acquire("report", {.ttl = 300ms});

    leases.reset();

    std::promise<void> never;
    never.get_future().wait_for(500ms);
    EXPECT_TRUE(lease->is_held()) << "and is renewed";
}

TEST(Leases, leases_are_refused_in_a_transaction_and_destroyed_there_end_by_time) {
    pawl::testing::TestDatabase database;
    Leases leases{database.database()};
    auto lease = leases.try_acquire("report");

    database.in_tx([&](Tx&) {
        EXPECT_THAT(
            why_invalid([&] { (void)leases.try_acquire("mails"); }),
            HasSubstr("within a transaction")
        );
        lease.reset();
    });

    EXPECT_FALSE(leases.try_acquire("report"));
}

TEST(Leases, values_out_of_bounds_are_named) {
    pawl::testing::TestDatabase database;
    Leases leases{database.database()};

    EXPECT_THAT(
        why_invalid([&] { (void)leases.try_acquire("report", {.ttl = 99ms}); }),
        HasSubstr("ttl is 99 ms: 100 ms to 3600000 ms")
    );
    EXPECT_THAT(
        why_invalid([&] { (void)leases.try_acquire("report", {.ttl = 1h + 1ms}); }),
        HasSubstr("ttl")
    );
    EXPECT_THAT(
        why_invalid([&] { (void)leases.try_acquire(std::string(201, 'x')); }),
        HasSubstr("201 bytes")
    );
    EXPECT_THAT(why_invalid([&] { (void)leases.try_acquire(""); }), HasSubstr("0 bytes"));
    // Found by reading: PostgreSQL refused the statement instead.
    EXPECT_THAT(why_invalid([&] { (void)FencingToken::received("\xff", 1); }), HasSubstr("UTF-8"));
    EXPECT_THAT(why_invalid([&] { (void)leases.try_acquire("a\xc0\x80"); }), HasSubstr("UTF-8"));
    EXPECT_THAT(
        why_invalid([&] { (void)FencingToken::received("report", 0); }), HasSubstr("epoch 0")
    );
}

TEST(Leases, a_fence_of_an_older_holder_is_refused_where_a_newer_one_wrote) {
    pawl::testing::TestDatabase database;
    Leases leases{database.database()};
    const auto write = [&](const FencingToken& token) {
        database.in_tx([&](Tx& tx) { check_fencing_token(tx, token); });
    };
    auto lease = leases.try_acquire("report");
    const auto old = lease->fencing_token();
    write(old);
    lease.reset();
    const auto newer = leases.try_acquire("report")->fencing_token();
    write(newer);

    EXPECT_THROW(write(old), StaleFencingToken);
    EXPECT_THROW(write(FencingToken::received(old.name(), old.epoch())), StaleFencingToken);
    EXPECT_NO_THROW(write(newer));
}

}  // namespace
}  // namespace pawl
