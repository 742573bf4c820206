#include "apps/rides/small_requests.hpp"

#include <pawl/testing.hpp>

#include "rides/migrations.hpp"
#include "rides/statements.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>

namespace rides {
namespace {

// Stripe gives ids to customers: a name made up here would be charged for in vain.
TEST(PutUser, a_new_user_has_no_customer_at_stripe_whatever_its_address) {
    pawl::testing::TestDatabase database{"rides", sql::migrations::all};
    database.in_tx([](pawl::Tx& tx) {
        (void)pawl::query<std::int64_t>(tx, sql::insert_user, "joe@example.com", "cus_joe");
    });
    const PutUser::Started joe_puts{.principal = {"rides", "joe@example.com"}};
    PutUser op;

    for (const std::string name : {"jane", "a.b", "<script>alert(1)</script>"}) {
        auto at = joe_puts;
        at.request.email = name + std::string(60, 'a') + "@example.com";

        const auto end = database.in_tx([&](pawl::Tx& tx) { return op.put(tx, at); });

        ASSERT_EQ(pawl::testing::finish(end)->status, 201) << name;
        const auto user = database.in_tx([&](pawl::Tx& tx) {
            return user_of(tx, {"rides", at.request.email});
        });
        EXPECT_EQ(user.stripe_customer_id, std::nullopt) << name;
    }
}

// SQLite would build a temporary table for IN at each ride (migration 0007).
TEST(Conditions, the_state_of_a_ride_is_checked_without_a_list) {
    pawl::testing::TestDatabase database{"rides", sql::migrations::all};
    static constexpr pawl::Statement<0> table{
        "table", "SELECT sql FROM sqlite_schema WHERE name = 'rides'", {}};
    static constexpr pawl::Statement<0> wrong{"wrong", "UPDATE rides SET state = 'lost'", {}};
    const auto text = database.in_tx([](pawl::Tx& tx) {
        const auto user =
            pawl::query_one<std::int64_t>(tx, sql::insert_user, "ann@example.com", "cus_ann");
        (void)pawl::query_one<RideId>(
            tx, sql::insert_ride, tx.now(), 5, 1.0, 2.0, 3.0, 4.0, 2000, "usd", "rides", user
        );
        return pawl::query_one<std::string>(tx, table);
    });

    EXPECT_NE(text.find("state = 'booking' OR state = 'booked'"), text.npos) << text;
    EXPECT_EQ(text.find("CHECK (state IN"), text.npos) << text;
    EXPECT_THROW(database.in_tx([](pawl::Tx& tx) { pawl::execute(tx, wrong); }), pawl::StoreError);
}

// A database of the first migration, where each user had a customer.
TEST(Customers, users_of_an_older_database_keep_their_customers_and_rides) {
    pawl::testing::TestDatabase database{"rides", std::span{sql::migrations::all}.first(1)};
    const auto older = database.in_tx([](pawl::Tx& tx) {
        static constexpr pawl::Statement<2> insert{
            "insert_older",
            "INSERT INTO users (email, stripe_customer_id, points, role) VALUES ($1, $2, 7, "
            "'support') "
            "RETURNING id",
            {}};
        const auto id = pawl::query_one<std::int64_t>(tx, insert, "joe@example.com", "cus_joe");
        record(tx, {"created", 3, "user"}, id, "::1");
        (void)pawl::query_one<RideId>(
            tx, sql::insert_ride, tx.now(), 5, 1.0, 2.0, 3.0, 4.0, 2000, "usd", "rides", id
        );
        return id;
    });

    database.database().migrate("rides", sql::migrations::all);

    static constexpr pawl::Statement<0> count{
        "count_older",
        "SELECT count(*) FROM users u JOIN rides r ON r.user_id = u.id AND r.idempotency_key_id = "
        "5 "
        "JOIN audit_records a ON a.user_id = u.id AND a.resource_id = 3 WHERE u.points = 7",
        {}};
    database.in_tx([&](pawl::Tx& tx) {
        const auto joe = user_of(tx, {"rides", "joe@example.com"});
        EXPECT_EQ(joe.id, older);
        EXPECT_EQ(joe.stripe_customer_id, "cus_joe");
        EXPECT_EQ(pawl::query_one<int>(tx, count), 1);
        EXPECT_TRUE(
            pawl::query_maybe<std::int64_t>(tx, sql::insert_user, "ann@example.com", no_customer)
        );
    });
    static constexpr pawl::Statement<0> remove{"remove_users", "DELETE FROM users", {}};
    EXPECT_THROW(database.in_tx([&](pawl::Tx& tx) { pawl::send(tx, remove); }), pawl::StoreError)
        << "a ride refers to its user";
}

}  // namespace
}  // namespace rides
