#include "apps/rides/trips.hpp"

#include <pawl/testing_operations.hpp>

#include "apps/rides/book_trip.hpp"
#include "apps/rides/pick_up_trip.hpp"
#include "apps/rides/test_provider.hpp"
#include "rides/migrations.hpp"
#include "rides/statements.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

// Trips against the stand-in for Stripe, cut at each commit and each call. Its ledger says what
// was really done.
namespace rides {
namespace {

using pawl::testing::AskedBy, pawl::testing::Cut, pawl::testing::CutRun, pawl::testing::finish,
    pawl::testing::KillPlan, pawl::testing::TestDatabase;

// What the ledger adds up to.
struct Money {
    std::int64_t taken{};  // Charged or captured, and not refunded.
    std::int64_t held{};   // Authorised, and neither captured, voided nor expired.
    std::map<std::string, int> lines{};
};

class TripsTest : public ::testing::Test, protected TestProvider {
protected:
    inline static const pawl::Principal jane{"rides", "jane@example.com"};
    inline static const AskedBy pick_up_of_trip_1{jane, "trip-1-pick-up"};

    static void make_rider(TestDatabase& at, std::optional<std::string> customer) {
        at.in_tx([&](pawl::Tx& tx) {
            (void)pawl::query<std::int64_t>(tx, sql::insert_user, jane.account, customer);
        });
    }
    // Trip 1 of Jane.
    void book(TestDatabase& at) {
        make_rider(at, "cus_jane");
        const auto end =
            run(at,
                BookTrip{stripe},
                {47, -122, 48, -123},
                AskedBy{jane, "key-" + std::to_string(++numbers_)});
        ASSERT_EQ(status_of(end), 201) << body_of(end);
    }
    static int status_of(const pawl::RunResult& end) {
        if (const auto* answer = std::get_if<pawl::RunAnswer>(&end)) return answer->response.status;
        return std::get<pawl::RunProblem>(end).status;
    }
    static std::string body_of(const pawl::RunResult& end) {
        const auto* answer = std::get_if<pawl::RunAnswer>(&end);
        return answer != nullptr ? answer->response.body : std::get<pawl::RunProblem>(end).type;
    }
    static Trip trip(TestDatabase& at) {
        return at.in_tx([](pawl::Tx& tx) {
            return pawl::query_one<Trip>(tx, sql::find_trip, TripId{1}, user_of(tx, jane).id);
        });
    }
    // Since the last forget().
    Money money() const {
        Money found;
        std::istringstream lines{ledger().substr(seen_)};
        for (std::string line; std::getline(lines, line);) {
            const auto entry = boost::json::parse(line).as_object();
            const std::string kind{entry.at("kind").as_string()};
            ++found.lines[kind];
            const auto* amount = entry.if_contains("amount");
            if (amount == nullptr) continue;
            if (kind == "charge" || kind == "capture") found.taken += amount->as_int64();
            if (kind == "refund") found.taken -= amount->as_int64();
            if (kind == "hold") found.held += amount->as_int64();
            if (kind == "capture" || kind == "void" || kind == "expired")
                found.held -= amount->as_int64();
        }
        return found;
    }
    void forget() { seen_ = ledger().size(); }

    struct Wanted {
        int status{};
        std::string state;
        std::int64_t taken{};
        std::int64_t held{};
    };
    // Why the end is wrong; empty: it is right.
    std::string trouble(TestDatabase& at, const CutRun& cut, const Wanted& wanted) const {
        const auto found = money();
        const auto state = trip(at).state;
        std::ostringstream text;
        if (status_of(cut.end) != wanted.status) text << "status " << status_of(cut.end) << "; ";
        if (state != wanted.state) text << "state " << state << "; ";
        if (found.taken != wanted.taken) text << found.taken << " are taken; ";
        if (found.held != wanted.held) text << found.held << " are held; ";
        // A share and a rest that was charged anew are two charges.
        for (const auto& [kind, count] : found.lines)
            if (count != 1 && kind != "charge") text << count << " of " << kind << "; ";
        return text.str();
    }
    template <class Op>
    int kill_booking(
        std::optional<std::string> customer,
        const std::function<void(TestDatabase&, const CutRun&)>& check
    ) {
        return pawl::testing::kill_everywhere(KillPlan<Op>{
            .owner = "rides",
            .migrations = sql::migrations::all,
            .prepare =
                [&](TestDatabase& at) {
                    make_rider(at, customer);
                    forget();
                },
            .make =
                [&] {
                    return Op{stripe, "tok_visa"};
                },
            .request = {47, -122, 48, -123},
            .by = {jane, "key"},
            .check = check});
    }
    // `then`: the stand-in's faults between the booking and the pick-up.
    int kill_pick_up(const std::string& then, const Wanted& wanted) {
        return pawl::testing::kill_everywhere(KillPlan<PickUpTrip>{
            .owner = "rides",
            .migrations = sql::migrations::all,
            .prepare =
                [&](TestDatabase& at) {
                    set_faults(R"({"decline": false, "hold_lifetime_ms": 600000})");
                    forget();
                    book(at);
                    set_faults(then);
                },
            .make = [&] { return PickUpTrip{stripe}; },
            .request = {{1}},
            .by = pick_up_of_trip_1,
            .check = [&](TestDatabase& at, const CutRun& cut
                     ) { EXPECT_EQ(trouble(at, cut, wanted), "") << cut.text(); }});
    }

private:
    std::size_t seen_{0};
    int numbers_{0};
};

TEST_F(TripsTest, killed_anywhere_a_booking_takes_the_share_and_holds_the_rest) {
    const auto runs = kill_booking<BookTrip>("cus_jane", [&](auto& at, const CutRun& cut) {
        EXPECT_EQ(trouble(at, cut, {201, "booked", 500, 1500}), "") << cut.text();
        EXPECT_NE(body_of(cut.end).find(*trip(at).share_charge_id), std::string::npos);
    });

    EXPECT_GE(runs, 15);
}

TEST_F(TripsTest, killed_anywhere_the_first_booking_of_a_rider_makes_a_customer) {
    kill_booking<BookTrip>(std::nullopt, [&](auto& at, const CutRun& cut) {
        const auto found = money();
        EXPECT_EQ(status_of(cut.end), 201) << cut.text();
        EXPECT_EQ(trip(at).state, "booked") << cut.text();
        EXPECT_EQ(
            (std::pair{found.taken, found.held}), (std::pair<std::int64_t, std::int64_t>{500, 1500})
        ) << cut.text();
    });
}

TEST_F(TripsTest, killed_anywhere_a_declined_share_leaves_nothing_held) {
    const auto runs = kill_booking<BookTrip>("cus_holdonly", [&](auto& at, const CutRun& cut) {
        EXPECT_EQ(trouble(at, cut, {402, "refused", 0, 0}), "") << cut.text();
        EXPECT_EQ(money().lines.at("void"), 1) << cut.text();
    });

    EXPECT_GE(runs, 20);
}

TEST_F(TripsTest, killed_anywhere_a_declined_authorisation_takes_nothing) {
    kill_booking<BookTrip>("cus_declined", [&](auto& at, const CutRun& cut) {
        EXPECT_EQ(trouble(at, cut, {402, "refused", 0, 0}), "") << cut.text();
        EXPECT_FALSE(money().lines.contains("hold")) << cut.text();
    });
}

// What the step void_rest is for: this booking answers without it.
class BookTripWithoutVoid : public BookTrip {
public:
    using BookTrip::BookTrip;
    Finish refuse_at_once(Tx& tx, const RestAuthorised& at, const Declined& why) {
        return refuse_trip(tx, TripCreated{at.of}, why);
    }
    using Flow = Steps<
        Atomic<&BookTrip::create_trip>,
        Foreign<
            Repeat::safe,
            &BookTrip::make_customer,
            &BookTrip::keep_customer,
            &BookTrip::refuse_card>,
        Foreign<
            Repeat::safe_with_key,
            &BookTrip::authorise_rest,
            &BookTrip::keep_hold,
            &BookTrip::refuse_trip>,
        Foreign<
            Repeat::safe_with_key,
            &BookTrip::charge_share,
            &BookTrip::keep_share,
            &BookTripWithoutVoid::refuse_at_once>>;
};

TEST_F(TripsTest, an_authorisation_that_is_left_open_is_found) {
    std::set<std::string> found;
    kill_booking<BookTripWithoutVoid>("cus_holdonly", [&](auto& at, const CutRun& cut) {
        found.insert(trouble(at, cut, {402, "refused", 0, 0}));
    });

    EXPECT_EQ(found, (std::set<std::string>{"1500 are held; "}));
}

TEST_F(TripsTest, killed_anywhere_a_pick_up_captures_the_rest) {
    const auto runs = kill_pick_up("{}", {201, "paid", 2000, 0});

    EXPECT_GE(runs, 9);
}

TEST_F(TripsTest, killed_anywhere_a_pick_up_after_the_authorisation_has_expired_charges_the_rest) {
    const auto runs = kill_pick_up(R"({"hold_lifetime_ms": 0})", {201, "paid", 2000, 0});

    EXPECT_GE(runs, 15);
}

TEST_F(TripsTest, killed_anywhere_a_pick_up_that_can_not_be_paid_pays_the_share_back) {
    const auto runs =
        kill_pick_up(R"({"hold_lifetime_ms": 0, "decline": true})", {402, "not_paid", 0, 0});

    EXPECT_GE(runs, 20);
}

class TripSteps : public TripsTest {
protected:
    TripSteps() { book(database); }
    template <class Point>
    std::string given_up(Point at, bool called) {
        pawl::Abandoned why;
        if (called) why.called_at = pawl::TimePoint{std::chrono::hours{1}};
        const auto end = database.in_tx([&](pawl::Tx& tx) {
            if constexpr (requires { PickUpTrip{stripe}.abandon(tx, at, why); })
                return PickUpTrip{stripe}.abandon(tx, at, why);
            else
                return BookTrip{stripe}.abandon(tx, at, why);
        });
        EXPECT_EQ(finish(end)->status, 422);
        EXPECT_EQ(trip(database).state, "given_up");
        return finish(end)->body;
    }
    // The charges that jobs will void or refund.
    std::set<std::string> paid_back() {
        std::set<std::string> charges;
        for (const auto& job : database.jobs<PayBack>()) charges.insert(job.charge);
        return charges;
    }
    BookTrip::Payments booking() { return {TripId{1}, 500, 1500, "usd", "cus_jane", "key-1"}; }
    PickUpTrip::Payments pick_up() {
        return {
            TripId{1},
            500,
            *trip(database).share_charge_id,
            *trip(database).hold_id,
            1500,
            "usd",
            "cus_jane",
            "trip-1-pick-up"};
    }
    TestDatabase database{"rides", sql::migrations::all};
};

TEST_F(TripSteps, a_pick_up_has_the_key_of_its_trip) {
    const auto end = run(database, PickUpTrip{stripe}, {{1}}, AskedBy{jane, "mine"});

    EXPECT_EQ(status_of(end), 422);
    EXPECT_EQ(status_of(run(database, PickUpTrip{stripe}, {{2}}, pick_up_of_trip_1)), 404);
    EXPECT_EQ(money().taken, 500);
}

TEST_F(TripSteps, a_trip_is_picked_up_once) {
    EXPECT_EQ(status_of(run(database, PickUpTrip{stripe}, {{1}}, pick_up_of_trip_1)), 201);

    const auto next = database.in_tx([&](pawl::Tx& tx) {
        return PickUpTrip{stripe}.start_pick_up(
            tx, {.key_id = 9, .principal = jane, .origin = "::1", .key = "k", .request = {{1}}}
        );
    });

    ASSERT_NE(pawl::testing::refusal(next), nullptr);
    EXPECT_NE(pawl::testing::refusal(next)->body.find("Its state is paid"), std::string::npos);
}

TEST_F(TripSteps, a_booking_that_is_given_up_voids_what_it_holds) {
    EXPECT_NE(
        given_up(BookTrip::RestAuthorised{booking(), "ch_hold"}, false).find("was not charged"),
        std::string::npos
    );
    EXPECT_EQ(paid_back(), std::set<std::string>{"ch_hold"});
}

TEST_F(TripSteps, a_booking_that_is_given_up_in_doubt_says_what_may_be_charged) {
    EXPECT_NE(
        given_up(BookTrip::RestAuthorised{booking(), "ch_hold"}, true)
            .find("may have been charged"),
        std::string::npos
    );
    EXPECT_NE(
        given_up(BookTrip::TripCreated{booking()}, true).find("may be held"), std::string::npos
    );
}

TEST_F(TripSteps, a_pick_up_that_is_given_up_before_its_call_pays_all_back) {
    const auto of = pick_up();

    EXPECT_NE(
        given_up(PickUpTrip::PickUpStarted{of}, false).find("is paid back"), std::string::npos
    );
    EXPECT_EQ(paid_back(), (std::set<std::string>{of.hold, of.share_charge}));
}

// The answer says that the share is paid back.
TEST_F(TripSteps, a_pick_up_that_is_given_up_without_its_hold_pays_the_share_back) {
    const auto of = pick_up();

    EXPECT_NE(given_up(PickUpTrip::HoldLost{of}, false).find("is paid back"), std::string::npos);

    EXPECT_EQ(paid_back(), (std::set<std::string>{of.share_charge}));
}

TEST_F(TripSteps, a_declined_pick_up_that_is_given_up_pays_the_share_back) {
    const auto of = pick_up();

    // Its call is the refund: in doubt, it is ordered again, and paid once.
    for (const bool called : {false, true}) {
        const auto body = given_up(PickUpTrip::RestDeclined{of, "no funds"}, called);
        EXPECT_NE(body.find("is paid back"), std::string::npos);
    }

    EXPECT_EQ(paid_back(), (std::set<std::string>{of.share_charge}));
    EXPECT_EQ(database.jobs<PayBack>().size(), 2U);
}

TEST_F(TripSteps, a_booking_that_is_given_up_after_a_declined_share_voids_the_hold) {
    const auto body = given_up(BookTrip::ShareDeclined{TripId{1}, "ch_hold", "no funds"}, false);

    EXPECT_NE(body.find("was not charged"), std::string::npos);
    EXPECT_EQ(paid_back(), std::set<std::string>{"ch_hold"});
}

TEST_F(TripSteps, a_pick_up_that_is_given_up_in_doubt_pays_nothing_back) {
    const auto of = pick_up();

    EXPECT_NE(
        given_up(PickUpTrip::PickUpStarted{of}, true).find("may have been charged"),
        std::string::npos
    );
    EXPECT_NE(
        given_up(PickUpTrip::HoldLost{of}, true).find("may have been charged"), std::string::npos
    );
    EXPECT_EQ(paid_back(), std::set<std::string>{});
}

// A job may run again after the server died.
TEST_F(TripSteps, a_charge_is_paid_back_once) {
    pawl::testing::FakeCall call;
    PayBackWorker worker{stripe};
    const auto of = pick_up();

    for (const auto& charge : {of.hold, of.share_charge, of.hold, of.share_charge})
        EXPECT_NO_THROW((void)worker.work(call.plain(), {.args = {charge}, .id = "j"}));

    EXPECT_EQ(money().taken, 0);
    EXPECT_EQ(money().held, 0);
    EXPECT_THROW(
        (void)worker.work(call.plain(), {.args = {"ch_none"}, .id = "j"}), std::runtime_error
    );
}

}  // namespace
}  // namespace rides
