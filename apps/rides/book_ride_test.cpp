#include "apps/rides/book_ride.hpp"

#include <pawl/testing.hpp>

#include "apps/rides/receipt.hpp"
#include "apps/rides/riders.hpp"
#include "rides/migrations.hpp"
#include "rides/statements.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace rides {
namespace {

using pawl::testing::finish, pawl::testing::point;

// Runs each step alone, on a database in memory: how an application tests its operations.
class BookRideTest : public ::testing::Test {
protected:
    BookRideTest() {
        database.in_tx([](pawl::Tx& tx) {
            (void)pawl::query<std::int64_t>(tx, sql::insert_user, "jane@example.com", "cus_jane");
        });
    }
    BookRide::Started started() const {
        return {
            .key_id = 7,
            .principal = {"rides", "jane@example.com"},
            .origin = "::1",
            .key = "key-7",
            .request = {47, -122, 48, -123}};
    }
    BookRide::RideCreated created() {
        return *point<BookRide::RideCreated>(database.in_tx([&](pawl::Tx& tx) {
            return op.create_ride(tx, started());
        }));
    }
    BookRide::CustomerMissing first_ride() {
        auto at = started();
        at.key_id = 8;
        at.key = "key-8";
        at.principal.account = "joe@example.com";
        return *point<BookRide::CustomerMissing>(database.in_tx([&](pawl::Tx& tx) {
            (void
            )pawl::query<std::int64_t>(tx, sql::insert_user, at.principal.account, no_customer);
            return op.create_ride(tx, at);
        }));
    }
    std::optional<std::string> customer_of_joe() {
        return database.in_tx([](pawl::Tx& tx) {
            return user_of(tx, {"rides", "joe@example.com"}).stripe_customer_id;
        });
    }
    std::string state() {
        static constexpr pawl::Statement<0> find{"find_state", "SELECT state FROM rides", {}};
        return database.in_tx([](pawl::Tx& tx) { return pawl::query_one<std::string>(tx, find); });
    }

    pawl::testing::TestDatabase database{"rides", sql::migrations::all};
    Stripe stripe{{"http://127.0.0.1:1", "sk"}, 16};
    BookRide op{stripe, "tok_visa"};
};

TEST_F(BookRideTest, a_ride_is_written_with_its_price_and_an_audit_record) {
    const auto at = created();

    EXPECT_EQ(at.amount, 2000);
    EXPECT_EQ(at.customer, "cus_jane");
    EXPECT_EQ(state(), "booking");
    static constexpr pawl::Statement<0> audit{
        "audit", "SELECT origin_ip FROM audit_records WHERE action = 'created'", {}};
    EXPECT_EQ(
        database.in_tx([](pawl::Tx& tx) { return pawl::query_one<std::string>(tx, audit); }), "::1"
    );
}

// Joe has no customer at Stripe yet.
TEST_F(BookRideTest, a_first_ride_makes_a_customer_before_the_charge) {
    const auto at = first_ride();

    EXPECT_EQ(at.email, "joe@example.com");
    EXPECT_EQ(at.source, "tok_visa");
    const auto next = database.in_tx([&](pawl::Tx& tx) {
        return op.keep_customer(tx, at, Customer{"cus_Nff1"});
    });
    const auto* charged = point<BookRide::RideCreated>(next);
    ASSERT_NE(charged, nullptr);
    EXPECT_EQ(charged->customer, "cus_Nff1");
    EXPECT_EQ(charged->ride.value, at.ride.value);
    EXPECT_EQ(charged->amount, 2000);
    EXPECT_EQ(charged->reference, "key-8");
    EXPECT_EQ(customer_of_joe(), "cus_Nff1");
}

TEST_F(BookRideTest, the_customer_that_was_stored_first_is_charged) {
    const auto at = first_ride();
    database.in_tx([&](pawl::Tx& tx) { (void)op.keep_customer(tx, at, Customer{"cus_first"}); });

    const auto next = database.in_tx([&](pawl::Tx& tx) {
        return op.keep_customer(tx, at, Customer{"cus_second"});
    });

    ASSERT_NE(point<BookRide::RideCreated>(next), nullptr);
    EXPECT_EQ(point<BookRide::RideCreated>(next)->customer, "cus_first");
    EXPECT_EQ(customer_of_joe(), "cus_first");
}

TEST_F(BookRideTest, a_card_that_is_declined_with_the_customer_is_402_and_no_customer_is_stored) {
    const auto at = first_ride();

    const auto end = database.in_tx([&](pawl::Tx& tx) {
        return op.refuse_card(tx, at, {"card_declined", "No."});
    });

    ASSERT_NE(finish(end), nullptr);
    EXPECT_EQ(finish(end)->status, 402);
    EXPECT_EQ(state(), "refused");
    EXPECT_EQ(customer_of_joe(), std::nullopt);
}

TEST_F(BookRideTest, a_first_ride_that_is_given_up_was_not_charged_whatever_was_called) {
    const auto at = first_ride();
    const pawl::Abandoned why{.called_at = pawl::TimePoint{std::chrono::hours{1}}};

    const auto end = database.in_tx([&](pawl::Tx& tx) { return op.abandon(tx, at, why); });

    ASSERT_NE(finish(end), nullptr);
    EXPECT_NE(finish(end)->body.find("was not charged"), std::string::npos);
    EXPECT_EQ(state(), "given_up");
}

TEST_F(BookRideTest, a_charge_is_kept_with_its_ride) {
    const auto at = created();

    const auto next =
        database.in_tx([&](pawl::Tx& tx) { return op.keep_charge(tx, at, Charge{"ch_1"}); });

    ASSERT_NE(point<BookRide::ChargeCreated>(next), nullptr);
    EXPECT_EQ(point<BookRide::ChargeCreated>(next)->charge, "ch_1");
    EXPECT_EQ(state(), "booked");
}

TEST_F(BookRideTest, a_declined_card_is_402_and_the_ride_is_refused) {
    const auto at = created();

    const auto end = database.in_tx([&](pawl::Tx& tx) {
        return op.refuse_ride(tx, at, {"card_declined", "No."});
    });

    ASSERT_NE(finish(end), nullptr);
    EXPECT_EQ(finish(end)->status, 402);
    EXPECT_EQ(state(), "refused");
}

TEST_F(BookRideTest, the_end_stages_a_receipt_and_points) {
    const auto end = database.in_tx([&](pawl::Tx& tx) {
        return op.finish_ride(tx, {RideId{1}, 1, 2000, "usd", "jane@example.com", "ch_1"});
    });

    EXPECT_EQ(finish(end)->status, 201);
    EXPECT_EQ(database.staged(SendReceipt::kind), 1);
    EXPECT_EQ(database.staged(AddPoints::kind), 1);
}

TEST_F(BookRideTest, the_receipt_says_what_was_paid_and_each_dollar_is_a_point) {
    const auto end = database.in_tx([&](pawl::Tx& tx) {
        return op.finish_ride(tx, {RideId{3}, 1, 2050, "usd", "jane@example.com", "ch_1"});
    });

    const auto receipts = database.jobs<SendReceipt>();
    ASSERT_EQ(receipts.size(), 1U);
    EXPECT_EQ(receipts[0].amount, 2050);
    EXPECT_EQ(receipts[0].email, "jane@example.com");
    const auto points = database.jobs<AddPoints>();
    ASSERT_EQ(points.size(), 1U);
    EXPECT_EQ(points[0].points, 20);
    ASSERT_EQ(finish(end)->headers.size(), 1U);
    EXPECT_EQ(finish(end)->headers[0].value, "/rides/3");
}

TEST_F(BookRideTest, a_ride_that_is_given_up_says_so_and_is_not_booked) {
    const auto at = created();

    const auto end = database.in_tx([&](pawl::Tx& tx) { return op.abandon(tx, at, {}); });

    ASSERT_NE(finish(end), nullptr);
    EXPECT_EQ(finish(end)->status, 422);
    EXPECT_NE(finish(end)->body.find("was not charged"), std::string::npos);
    EXPECT_EQ(state(), "given_up");
}

// Issue 16, number 16.
TEST_F(
    BookRideTest, a_ride_that_is_given_up_after_a_call_says_that_the_card_may_have_been_charged
) {
    const auto at = created();
    const pawl::Abandoned why{.called_at = pawl::TimePoint{std::chrono::hours{1}}};

    const auto end = database.in_tx([&](pawl::Tx& tx) { return op.abandon(tx, at, why); });

    ASSERT_NE(finish(end), nullptr);
    EXPECT_NE(finish(end)->body.find("may have been charged"), std::string::npos);
    EXPECT_EQ(finish(end)->body.find("not charged"), std::string::npos);
}

TEST_F(BookRideTest, the_table_refuses_coordinates_out_of_range_too) {
    auto at = started();
    at.request.origin_lat = 91;

    EXPECT_THROW(
        (void)database.in_tx([&](pawl::Tx& tx) { return op.create_ride(tx, at); }), pawl::StoreError
    );
}

TEST_F(BookRideTest, one_key_has_one_ride) {
    (void)created();

    EXPECT_THROW((void)created(), pawl::StoreError);
}

TEST_F(BookRideTest, an_unknown_account_books_no_ride) {
    auto at = started();
    at.principal.account = "joe@example.com";

    EXPECT_THROW(
        (void)database.in_tx([&](pawl::Tx& tx) { return op.create_ride(tx, at); }), pawl::StoreError
    );
}

TEST_F(BookRideTest, a_phase_that_throws_is_rolled_back) {
    EXPECT_THROW(
        database.in_tx([&](pawl::Tx& tx) {
            (void)op.create_ride(tx, started());
            throw std::runtime_error{"no"};
        }),
        std::runtime_error
    );

    static constexpr pawl::Statement<0> count{"count", "SELECT count(*) FROM rides", {}};
    EXPECT_EQ(database.in_tx([](pawl::Tx& tx) { return pawl::query_one<int>(tx, count); }), 0);
}

TEST_F(BookRideTest, an_unreachable_provider_received_no_call) {
    pawl::testing::FakeCall call;

    const auto outcome = op.charge_card(call.keyed(), created());

    EXPECT_TRUE(std::holds_alternative<pawl::Retry>(outcome.value()));
}

TEST(RideRequestTest, coordinates_out_of_range_are_named) {
    struct Case {
        const char* name;
        RideRequest request;
        const char* problem;
    };
    for (const auto& c : {
             Case{"all in range", {90, 180, -90, -180}, nullptr},
             Case{"too far north", {90.001, 0, 0, 0}, "origin_lat"},
             Case{"too far west", {0, -180.5, 0, 0}, "origin_lon"},
             Case{"the target", {0, 0, -91, 0}, "target_lat"},
             Case{
                 "not a number", {0, 0, 0, std::numeric_limits<double>::quiet_NaN()}, "target_lon"},
         }) {
        const auto problem = c.request.problem();
        EXPECT_EQ(problem.has_value(), c.problem != nullptr) << c.name;
        if (problem && c.problem != nullptr) {
            EXPECT_EQ(problem->find(c.problem), 0U) << c.name << ": " << *problem;
        }
    }
}

}  // namespace
}  // namespace rides
