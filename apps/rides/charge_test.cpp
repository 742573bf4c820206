#include <pawl/testing.hpp>

#include "apps/rides/book_ride.hpp"
#include "apps/rides/test_provider.hpp"
#include "rides/migrations.hpp"
#include "rides/statements.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace rides {
namespace {

using pawl::testing::FakeCall, pawl::testing::finish, pawl::testing::point, pawl::testing::result;

// The foreign steps of BookRide against the stand-in for Stripe, on free ports.
class ChargeTest : public ::testing::Test, protected TestProvider {
protected:
    static BookRide::RideCreated ride_of(const std::string& customer) {
        return {RideId{3}, 1, 2000, "usd", customer, "jane@example.com"};
    }
    pawl::Outcome<Charge, Declined> charge(const std::string& customer, const std::string& key) {
        FakeCall call{key};
        return op.charge_card(call.keyed(), ride_of(customer));
    }

    // Shows in a failing test why a call ended without a result.
    static std::string why(const pawl::Outcome<Charge, Declined>& outcome) {
        if (const auto* retry = result<pawl::Retry>(outcome)) return "retry: " + retry->why;
        if (const auto* doubt = result<pawl::InDoubt>(outcome)) return "in doubt: " + doubt->why;
        if (const auto* stuck = result<pawl::Stuck>(outcome)) return "stuck: " + stuck->why;
        return "a result";
    }

    BookRide op{stripe};
};

TEST_F(ChargeTest, a_repeat_under_the_same_key_is_the_same_charge) {
    const auto first = charge("cus_jane", "key-1");
    const auto repeat = charge("cus_jane", "key-1");
    const auto other = charge("cus_jane", "key-2");

    ASSERT_NE(result<Charge>(first), nullptr) << why(first);
    ASSERT_NE(result<Charge>(repeat), nullptr) << why(repeat);
    ASSERT_NE(result<Charge>(other), nullptr) << why(other);
    EXPECT_EQ(result<Charge>(first)->id, result<Charge>(repeat)->id);
    EXPECT_NE(result<Charge>(first)->id, result<Charge>(other)->id);
}

TEST_F(ChargeTest, two_requests_that_make_one_riders_customer_get_the_same_one) {
    FakeCall call{"key-1"};
    FakeCall other_call{"key-2"};

    const auto first = stripe.make_customer(call.plain(), {"ann@example.com", "tok_visa"});
    const auto second = stripe.make_customer(other_call.plain(), {"ann@example.com", "tok_visa"});
    const auto other = stripe.make_customer(call.plain(), {"ann@example.org", "tok_visa"});

    ASSERT_NE(result<Customer>(first), nullptr);
    ASSERT_NE(result<Customer>(second), nullptr);
    ASSERT_NE(result<Customer>(other), nullptr);
    EXPECT_EQ(result<Customer>(first)->id, "cus_ann");
    EXPECT_EQ(result<Customer>(second)->id, "cus_ann");
    EXPECT_NE(result<Customer>(other)->id, "cus_ann");
    EXPECT_NE(ledger().find("\"kind\":\"customer\""), std::string::npos) << ledger();
}

TEST_F(ChargeTest, a_card_that_is_declined_with_the_customer_is_an_answer_with_a_reason) {
    FakeCall call;

    const auto end = stripe.make_customer(call.plain(), {"ann@example.com", "tok_chargeDeclined"});

    ASSERT_NE(result<Declined>(end), nullptr);
    EXPECT_EQ(result<Declined>(end)->message, "Your card was declined.");
}

// Issue 16, number 4: the description had the ride's id, so that a request lost by a restore of the
// database could not be repeated under its call key.
TEST_F(ChargeTest, a_request_lost_by_a_restore_repeats_the_same_charge) {
    pawl::testing::TestDatabase database{"rides", sql::migrations::all};
    const auto booked = [&](std::int64_t key_id) {
        return *point<BookRide::RideCreated>(database.in_tx([&](pawl::Tx& tx) {
            (void)pawl::query<std::int64_t>(tx, sql::insert_user, "jane@example.com", "cus_jane");
            return op.create_ride(
                tx,
                {.key_id = key_id,
                 .principal = {"rides", "jane@example.com"},
                 .origin = "::1",
                 .key = "client-key",
                 .request = {47, -122, 48, -123}}
            );
        }));
    };
    FakeCall call{"foreign-key"};

    const auto before = booked(1);
    const auto lost = op.charge_card(call.keyed(), before);
    const auto after = booked(2);
    const auto repeat = op.charge_card(call.keyed(), after);

    ASSERT_NE(before.ride.value, after.ride.value);
    ASSERT_NE(result<Charge>(lost), nullptr) << why(lost);
    ASSERT_NE(result<Charge>(repeat), nullptr) << why(repeat);
    EXPECT_EQ(result<Charge>(lost)->id, result<Charge>(repeat)->id);
}

// Its description may have been sent before the deploy: the repeat must send the same.
TEST_F(ChargeTest, a_point_stored_without_a_reference_sends_its_old_description) {
    EXPECT_EQ(ride_of("cus_jane").reference, std::nullopt);
    FakeCall call{"key-1"};

    ASSERT_NE(result<Charge>(op.charge_card(call.keyed(), ride_of("cus_jane"))), nullptr);

    EXPECT_NE(ledger().find("Charge for ride 3"), std::string::npos) << ledger();
}

TEST_F(ChargeTest, a_declined_card_is_an_answer_with_a_reason) {
    pawl::testing::TestDatabase database{"rides", sql::migrations::all};

    const auto outcome = charge("cus_declined", "key-1");

    ASSERT_NE(result<Declined>(outcome), nullptr) << why(outcome);
    EXPECT_EQ(result<Declined>(outcome)->code, "card_declined");
    const auto end = database.in_tx([&](pawl::Tx& tx) {
        return op.refuse_ride(tx, ride_of("cus_declined"), *result<Declined>(outcome));
    });
    ASSERT_NE(finish(end), nullptr);
    EXPECT_EQ(finish(end)->status, 402);
    EXPECT_NE(finish(end)->body.find("Your card was declined."), std::string::npos);
}

TEST_F(ChargeTest, an_error_that_stripe_stored_is_in_doubt_first_and_then_stuck) {
    const auto first = charge("cus_500", "key-1");
    const auto repeat = charge("cus_500", "key-1");

    EXPECT_NE(result<pawl::InDoubt>(first), nullptr) << why(first);
    EXPECT_NE(result<pawl::Stuck>(repeat), nullptr) << why(repeat);
}

TEST_F(ChargeTest, too_many_requests_means_that_no_charge_was_made) {
    EXPECT_NE(result<pawl::Retry>(charge("cus_429once", "key-1")), nullptr);
    EXPECT_NE(result<Charge>(charge("cus_429once", "key-1")), nullptr);
}

TEST_F(ChargeTest, charges_are_listed_newest_first_page_by_page) {
    for (int i = 0; i < 205; ++i)
        ASSERT_NE(result<Charge>(charge("cus_jane", "key-" + std::to_string(i))), nullptr);
    ChargeQuery query{.since = 0, .until = 9'999'999'999};
    std::vector<std::size_t> sizes;
    std::vector<std::string> ids;

    for (bool more = true; more && sizes.size() < 9;) {
        const auto page = stripe.list_charges(query);
        sizes.push_back(page.charges.size());
        for (const auto& one : page.charges) ids.push_back(one.id);
        more = page.has_more;
        query.after = ids.back();
    }

    EXPECT_EQ(sizes, (std::vector<std::size_t>{100, 100, 5}));
    EXPECT_TRUE(std::is_sorted(ids.rbegin(), ids.rend()));
    EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 205U);
    EXPECT_TRUE(
        stripe.list_charges({.since = 9'999'999'998, .until = 9'999'999'999}).charges.empty()
    );
    EXPECT_TRUE(stripe.list_charges({.since = 0, .until = 1}).charges.empty());
}

TEST_F(ChargeTest, a_charge_is_found_by_its_id_and_an_unknown_id_is_not) {
    const auto made = charge("cus_jane", "key-1");
    ASSERT_NE(result<Charge>(made), nullptr) << why(made);

    const auto found = stripe.find_charge(result<Charge>(made)->id);

    ASSERT_TRUE(found);
    EXPECT_EQ(found->amount, 2000);
    EXPECT_EQ(found->currency, "usd");
    EXPECT_EQ(found->customer, "cus_jane");
    EXPECT_EQ(found->description, "Charge for ride 3");
    EXPECT_FALSE(stripe.find_charge("ch_no_such"));
}

TEST_F(ChargeTest, without_a_key_each_call_is_a_charge_of_its_own) {
    FakeCall call;

    const auto first = op.charge_card_once(call.plain(), ride_of("cus_jane"));
    const auto second = op.charge_card_once(call.plain(), ride_of("cus_jane"));

    ASSERT_NE(result<Charge>(first), nullptr) << why(first);
    ASSERT_NE(result<Charge>(second), nullptr) << why(second);
    EXPECT_NE(result<Charge>(first)->id, result<Charge>(second)->id);
}

}  // namespace
}  // namespace rides
