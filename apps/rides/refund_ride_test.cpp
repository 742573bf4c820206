#include "apps/rides/refund_ride.hpp"

#include <pawl/testing_operations.hpp>

#include "apps/rides/book_ride.hpp"
#include "apps/rides/small_requests.hpp"
#include "apps/rides/test_provider.hpp"
#include "rides/migrations.hpp"
#include "rides/statements.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace rides {
namespace {

using pawl::testing::AskedBy, pawl::testing::Cut, pawl::testing::CutRun,
    pawl::testing::TestDatabase;

constexpr pawl::Statement<2> set_refund_of_older_server{
    "set_refund", "UPDATE rides SET stripe_refund_id = $2, state = 'refunded' WHERE id = $1", {}};

class RefundRideTest : public ::testing::Test, protected TestProvider {
protected:
    inline static const pawl::Principal jane{"rides", "jane@example.com"};

    RefundRideTest() { book(database); }

    // Ride 1 of Jane, for 2000, charged at the stand-in.
    void book(TestDatabase& at) {
        at.in_tx([](pawl::Tx& tx) {
            (void)pawl::query<std::int64_t>(tx, sql::insert_user, jane.account, "cus_jane");
        });
        BookRide booking{stripe};
        const auto end =
            run(at, std::move(booking), {47, -122, 48, -123}, AskedBy{jane, "key-" + next()});
        ASSERT_EQ(status_of(end), 201);
    }
    std::string next() { return std::to_string(++numbers_); }

    pawl::RunResult refund(std::optional<std::int64_t> amount, const std::string& key) {
        return run(database, RefundRide{stripe}, {.id = {1}, .amount = amount}, AskedBy{jane, key});
    }
    static int status_of(const pawl::RunResult& end) {
        if (const auto* answer = std::get_if<pawl::RunAnswer>(&end)) return answer->response.status;
        return std::get<pawl::RunProblem>(end).status;
    }
    static std::string body_of(const pawl::RunResult& end) {
        const auto* answer = std::get_if<pawl::RunAnswer>(&end);
        return answer != nullptr ? answer->response.body : std::string{};
    }
    static Ride ride(TestDatabase& at) {
        return at.in_tx([](pawl::Tx& tx) {
            return pawl::query_one<Ride>(tx, sql::find_ride, RideId{1}, user_of(tx, jane).id);
        });
    }
    // The sum of all refunds at the stand-in.
    std::int64_t refunded_at_stripe() const { return refunds().first; }
    // The sum and the number.
    std::pair<std::int64_t, int> refunds() const {
        std::pair<std::int64_t, int> found;
        std::istringstream lines{ledger()};
        for (std::string line; std::getline(lines, line);) {
            const auto entry = boost::json::parse(line).as_object();
            if (entry.at("kind").as_string() != "refund") continue;
            found.first += entry.at("amount").as_int64();
            ++found.second;
        }
        return found;
    }

    TestDatabase database{"rides", sql::migrations::all};

private:
    int numbers_{0};
};

TEST_F(RefundRideTest, a_part_is_refunded_once_under_its_key_and_the_ride_shows_it) {
    const auto first = refund(500, "ride-1-refund-1");
    const auto again = refund(500, "ride-1-refund-1");

    ASSERT_EQ(status_of(first), 201) << body_of(first);
    EXPECT_EQ(body_of(first), body_of(again));
    EXPECT_EQ(refunds(), (std::pair<std::int64_t, int>{500, 1}));
    EXPECT_EQ(ride(database).amount_refunded, 500);
    EXPECT_EQ(ride(database).state, "booked");
    EXPECT_EQ(ride(database).stripe_refund_id, std::nullopt);
}

TEST_F(RefundRideTest, parts_are_refunded_up_to_the_charge_and_no_further) {
    EXPECT_EQ(status_of(refund(1500, "ride-1-refund-1")), 201);
    const auto more = refund(501, "ride-1-refund-2");
    EXPECT_EQ(status_of(more), 409);
    EXPECT_NE(body_of(more).find("of 2000, 500 are left"), std::string::npos) << body_of(more);
    EXPECT_EQ(status_of(refund(500, "ride-1-refund-3")), 201);
    EXPECT_EQ(status_of(refund(1, "ride-1-refund-4")), 409);

    EXPECT_EQ(refunds(), (std::pair<std::int64_t, int>{2000, 2}));
    EXPECT_EQ(ride(database).state, "refunded");
    EXPECT_EQ(ride(database).amount_refunded, 2000);
}

TEST_F(RefundRideTest, without_an_amount_all_that_is_left_is_refunded) {
    EXPECT_EQ(status_of(refund(500, "ride-1-refund-1")), 201);

    const auto rest = refund(std::nullopt, "ride-1-refund");

    EXPECT_EQ(status_of(rest), 201);
    EXPECT_NE(body_of(rest).find(R"("amount":1500)"), std::string::npos) << body_of(rest);
    EXPECT_EQ(refunded_at_stripe(), 2000);
    EXPECT_EQ(ride(database).state, "refunded");
}

TEST_F(RefundRideTest, nothing_is_refunded_after_all_is) {
    const auto whole = refund(std::nullopt, "ride-1-refund");
    EXPECT_NE(body_of(whole).find(R"("amount":2000)"), std::string::npos) << body_of(whole);

    EXPECT_EQ(status_of(refund(1, "ride-1-refund-1")), 409);
    EXPECT_EQ(refunded_at_stripe(), 2000);
}

TEST_F(RefundRideTest, a_key_belongs_to_one_kind_of_refund_of_one_ride) {
    struct Case {
        std::optional<std::int64_t> amount;
        const char* key;
    };
    for (const auto& c :
         {Case{500, "ride-1-refund"},
          Case{std::nullopt, "ride-1-refund-1"},
          Case{500, "ride-11-refund-1"},
          Case{500, "ride-1-refund-"},
          Case{500, "ride-1-refund-0"},
          Case{500, "ride-1-refund-01"},
          Case{500, "ride-1-refund--1"},
          Case{500, "ride-1-refund-1a"},
          Case{500, "ride-1-refund-1234567890"},
          Case{500, "mine"}})
        EXPECT_EQ(status_of(refund(c.amount, c.key)), 422) << c.key;
    EXPECT_EQ(refunded_at_stripe(), 0);
    EXPECT_EQ(status_of(refund(500, "ride-1-refund-17")), 201);
}

TEST_F(RefundRideTest, two_amounts_under_one_key_are_two_requests) {
    EXPECT_EQ(status_of(refund(500, "ride-1-refund-1")), 201);

    const auto other = refund(700, "ride-1-refund-1");

    ASSERT_TRUE(std::holds_alternative<pawl::RunProblem>(other));
    EXPECT_EQ(std::get<pawl::RunProblem>(other).type, "key-reused");
    EXPECT_EQ(refunded_at_stripe(), 500);
}

TEST_F(RefundRideTest, an_amount_is_at_least_one) {
    for (const std::int64_t amount : {0, -500})
        EXPECT_EQ((RefundRide::Request{{1}, amount}.problem()), "amount: Must be 1 or more.");
    EXPECT_EQ((RefundRide::Request{{1}, 1}.problem()), std::nullopt);
    EXPECT_EQ((RefundRide::Request{{1}, std::nullopt}.problem()), std::nullopt);
}

// The money was paid back at Stripe without us: by its dashboard.
TEST_F(RefundRideTest, a_refund_that_stripe_refuses_leaves_its_amount_for_another) {
    pawl::testing::FakeCall call;
    (void)stripe.refund(call.keyed(), {*ride(database).stripe_charge_id, 1800});

    EXPECT_EQ(status_of(refund(500, "ride-1-refund-1")), 409);
    EXPECT_EQ(status_of(refund(200, "ride-1-refund-2")), 201);

    EXPECT_EQ(ride(database).amount_refunded, 200);
    EXPECT_EQ(status_of(refund(1800, "ride-1-refund-3")), 409);
    EXPECT_EQ(refunded_at_stripe(), 2000);
}

class RefundSteps : public RefundRideTest {
protected:
    RefundRide::RefundOrdered ordered(std::int64_t amount, std::string key) {
        const auto next = database.in_tx([&](pawl::Tx& tx) {
            return op.order_refund(
                tx,
                {.key_id = 9,
                 .principal = jane,
                 .origin = "::1",
                 .key = std::move(key),
                 .request = {.id = {1}, .amount = amount}}
            );
        });
        const auto* at = pawl::testing::point<RefundRide::RefundOrdered>(next);
        return at != nullptr ? *at : RefundRide::RefundOrdered{};
    }
    RefundRide op{stripe};
};

TEST_F(RefundSteps, an_amount_is_reserved_before_stripe_is_asked) {
    EXPECT_EQ(ordered(1500, "ride-1-refund-1").amount, 1500);

    EXPECT_EQ(ordered(501, "ride-1-refund-2").amount, 0) << "refused";
    EXPECT_EQ(ordered(500, "ride-1-refund-3").amount, 500);
    EXPECT_EQ(ride(database).amount_refunded, 0) << "nothing is paid back yet";
}

TEST_F(RefundSteps, an_amount_that_is_given_up_is_free_only_if_stripe_was_not_asked) {
    const auto first = ordered(1500, "ride-1-refund-1");
    database.in_tx([&](pawl::Tx& tx) { (void)op.abandon(tx, first, {}); });
    const auto second = ordered(1500, "ride-1-refund-2");
    const pawl::Abandoned asked{.called_at = pawl::TimePoint{std::chrono::hours{1}}};

    const auto end = database.in_tx([&](pawl::Tx& tx) { return op.abandon(tx, second, asked); });

    EXPECT_EQ(second.amount, 1500);
    EXPECT_NE(pawl::testing::finish(end)->body.find("may have been paid back"), std::string::npos);
    EXPECT_EQ(ordered(501, "ride-1-refund-3").amount, 0);
}

// A deploy: the older server orders the whole amount and has no table of refunds.
TEST_F(RefundSteps, a_point_of_an_older_server_refunds_the_whole_ride) {
    const RefundRide::RefundOrdered older{RideId{1}, "ch_1", 2000, "usd"};
    ASSERT_EQ(older.key, std::nullopt);

    database.in_tx([&](pawl::Tx& tx) { (void)op.keep_refund(tx, older, {"re_1"}); });

    EXPECT_EQ(ride(database).state, "refunded");
    EXPECT_EQ(ride(database).stripe_refund_id, "re_1");
    EXPECT_EQ(ordered(1, "ride-1-refund-1").amount, 0);
}

TEST_F(RefundSteps, a_ride_that_an_older_server_refunded_is_refunded) {
    database.in_tx([&](pawl::Tx& tx) {
        pawl::execute(tx, set_refund_of_older_server, RideId{1}, "re_1");
    });

    EXPECT_EQ(ride(database).amount_refunded, 2000);
    EXPECT_EQ(ordered(1, "ride-1-refund-1").amount, 0);
}

// Wherever the server dies, a part is refunded once, and the books agree with Stripe.
TEST_F(RefundRideTest, killed_anywhere_a_part_is_refunded_once) {
    int before = 0;
    const auto runs = pawl::testing::kill_everywhere(pawl::testing::KillPlan<RefundRide>{
        .owner = "rides",
        .migrations = sql::migrations::all,
        .prepare =
            [&](TestDatabase& at) {
                book(at);
                before = refunds().second;
            },
        .make = [&] { return RefundRide{stripe}; },
        .request = {.id = {1}, .amount = 500},
        .by = {jane, "ride-1-refund-1"},
        .check =
            [&](TestDatabase& at, const CutRun& cut) {
                EXPECT_EQ(status_of(cut.end), 201) << cut.text();
                EXPECT_EQ(refunds().second, before + 1) << cut.text();
                EXPECT_EQ(ride(at).amount_refunded, 500) << cut.text();
            }});

    EXPECT_GE(runs, 9);
}

}  // namespace
}  // namespace rides
