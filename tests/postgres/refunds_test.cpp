#include <pawl/database.hpp>
#include <pawl/testing.hpp>

#include "apps/rides/refund_ride.hpp"
#include "rides/migrations.hpp"
#include "rides/statements.hpp"
#include "tests/postgres/cluster.hpp"

#include <gtest/gtest.h>

#include <array>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

// Two supporters refund parts of one ride at the same moment, on two servers: both phases have read
// before either commits. The isolation that RefundRide sets keeps the sum right; a weaker one does
// not, which shows that this test would notice.
namespace rides {
namespace {

using namespace std::chrono_literals;
using pawl::Isolation;

constexpr std::int64_t fare = 2000;
constexpr pawl::Statement<0> sum{
    "sum", {}, "SELECT CAST(COALESCE(SUM(amount), 0) AS bigint) FROM ride_refunds"};
constexpr pawl::Statement<0> forget{"forget", {}, "DELETE FROM ride_refunds"};

// The first run of each phase waits here for the other; a phase that runs again does not.
class Meeting {
public:
    void come() {
        std::unique_lock lock{mutex_};
        ++runs_;
        if (runs_ > 2) return;
        if (runs_ == 2) both_.notify_all();
        EXPECT_TRUE(both_.wait_for(lock, 10s, [this] { return runs_ >= 2; }))
            << "the phases do not run at the same time";
    }
    int runs() const { return runs_; }

private:
    std::mutex mutex_;
    std::condition_variable both_;
    int runs_{0};
};

class RefundsTest : public ::testing::Test {
protected:
    RefundsTest() {
        servers[0]->migrate("rides", sql::migrations::all);
        servers[0]->write([&](pawl::Tx& tx) {
            const auto user = pawl::query_one<std::int64_t>(
                tx, sql::insert_user, "jane@example.com", std::optional{"cus_jane"}
            );
            ride = pawl::query_one<RideId>(
                tx,
                sql::insert_ride,
                tx.now(),
                7,
                47.,
                -122.,
                48.,
                -123.,
                fare,
                "usd",
                "rides",
                user
            );
            pawl::send(tx, sql::set_charge, ride, "ch_1");
        });
    }

    // Whether the amount was ordered.
    bool order(
        pawl::Database& server,
        const RefundRide::Request& request,
        std::string key,
        Isolation isolation,
        Meeting& meeting
    ) {
        bool ordered = false;
        server.write(
            [&](pawl::Tx& tx) {
                const auto next = op.order_refund(
                    tx,
                    {.key_id = 9,
                     .principal = {"rides", "jane@example.com"},
                     .origin = "::1",
                     .key = key,
                     .request = request}
                );
                meeting.come();
                ordered = pawl::testing::refusal(next) == nullptr;
            },
            isolation
        );
        return ordered;
    }
    // Both at once; returns how many were ordered.
    int order_both(
        std::optional<std::int64_t> one,
        std::optional<std::int64_t> other,
        Isolation isolation,
        Meeting& meeting
    ) {
        const std::array requests{RefundRide::Request{ride, one}, RefundRide::Request{ride, other}};
        std::array<std::future<bool>, 2> asked;
        for (std::size_t i = 0; i < 2; ++i)
            asked.at(i) = std::async(std::launch::async, [&, i] {
                return order(
                    *servers.at(i),
                    requests.at(i),
                    "ride-1-refund-" + std::to_string(i + 1),
                    isolation,
                    meeting
                );
            });
        int ordered = 0;
        for (auto& one_of : asked) ordered += one_of.get() ? 1 : 0;
        return ordered;
    }
    std::int64_t reserved() {
        std::int64_t found = 0;
        servers[0]->read([&](pawl::Snapshot& read) {
            found = pawl::query_one<std::int64_t>(read, sum);
        });
        return found;
    }

    pawl::testing::PostgresDatabase database;
    std::array<std::unique_ptr<pawl::Database>, 2> servers{
        pawl::Database::open(database.url()), pawl::Database::open(database.url())};
    RideId ride;
    Stripe stripe{{"http://127.0.0.1:1", "sk"}, 1};
    RefundRide op{stripe};
};

TEST_F(RefundsTest, two_parts_at_once_are_never_above_the_charge) {
    for (int round = 0; round < 20; ++round) {
        Meeting meeting;

        const int ordered = order_both(1500, 501, RefundRide::settings.isolation, meeting);

        EXPECT_EQ(ordered, 1);
        EXPECT_LE(reserved(), fare);
        EXPECT_GE(meeting.runs(), 3) << "one met the other, and ran again";
        servers[0]->write([](pawl::Tx& tx) { pawl::execute(tx, forget); });
    }
}

TEST_F(RefundsTest, two_parts_at_once_that_fit_are_both_ordered) {
    Meeting meeting;

    EXPECT_EQ(order_both(1500, 500, RefundRide::settings.isolation, meeting), 2);

    EXPECT_EQ(reserved(), fare);
}

TEST_F(RefundsTest, a_part_and_the_rest_at_once_are_the_charge) {
    Meeting meeting;

    const int ordered = order_both(std::nullopt, 500, RefundRide::settings.isolation, meeting);

    // The rest is 2000 if it comes first, and then the part is refused.
    EXPECT_GE(ordered, 1);
    EXPECT_EQ(reserved(), fare);
}

// What RefundRide::settings.isolation is for.
TEST_F(RefundsTest, at_a_weaker_isolation_two_parts_at_once_go_above_the_charge) {
    for (const auto weaker : {Isolation::repeatable_read, Isolation::read_committed}) {
        Meeting meeting;

        EXPECT_EQ(order_both(1500, 501, weaker, meeting), 2);

        EXPECT_GT(reserved(), fare);
        servers[0]->write([](pawl::Tx& tx) { pawl::execute(tx, forget); });
    }
}

}  // namespace
}  // namespace rides
