#include "src/ops/in_flight_jobs.hpp"

#include "src/base/testing/still_clock.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace pawl::ops {

namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Ids = std::vector<std::string>;

queue::ClaimedJob job(const std::string& id, const std::string& kind = "call") {
    queue::ClaimedJob made;
    made.id = id;
    made.kind = kind;
    return made;
}

bool in_transaction(const queue::ClaimedJob& job) {
    return job.kind == "tx";
}

Ids ids_of(const InFlightJobs::Next& next) {
    Ids ids;
    for (const auto& held : next.jobs) ids.push_back(held.job.id);
    return ids;
}

class InFlightJobsTest : public ::testing::Test {
protected:
    Ids next(InFlightJobs::Most most = {.together = 10}) {
        return ids_of(in_flight.next(in_transaction, most));
    }
    Ids all() {
        Ids ids;
        for (const auto& held : in_flight.held_for(0ms)) ids.push_back(held.id);
        std::sort(ids.begin(), ids.end());
        return ids;
    }
    base::StillClock clock;
    InFlightJobs in_flight{clock};
};

}  // namespace

TEST_F(InFlightJobsTest, next_gives_jobs_in_transactions_together_and_others_alone_in_order) {
    in_flight.add({job("a", "tx"), job("b", "tx"), job("c"), job("d"), job("e", "tx")}, {});

    EXPECT_THAT(next(), ElementsAre("a", "b"));
    EXPECT_THAT(next(), ElementsAre("c"));
    EXPECT_THAT(next(), ElementsAre("d"));
    EXPECT_THAT(next(), ElementsAre("e"));
    EXPECT_THAT(next(), IsEmpty());
}

TEST_F(InFlightJobsTest, a_lease_lasts_for_its_length_since_it_was_written) {
    in_flight.add({job("a")}, clock.moment());
    EXPECT_TRUE(in_flight.lease_lasts(job("a"), 10s));
    clock.at += 10s;
    EXPECT_FALSE(in_flight.lease_lasts(job("a"), 10s));

    auto other_claim = job("a");
    other_claim.claim = 7;
    in_flight.renewed(other_claim, clock.moment());
    EXPECT_FALSE(in_flight.lease_lasts(job("a"), 10s));

    in_flight.renewed(job("a"), {clock.now(), clock.steady() - 1s});
    EXPECT_TRUE(in_flight.lease_lasts(job("a"), 10s));
    EXPECT_FALSE(in_flight.lease_lasts(other_claim, 10s));
    clock.at += 9s;
    EXPECT_FALSE(in_flight.lease_lasts(job("a"), 10s));
    EXPECT_FALSE(in_flight.lease_lasts(job("b"), 10s)) << "not held";
}

TEST_F(InFlightJobsTest, next_gives_at_most_the_asked_number_together) {
    in_flight.add({job("a", "tx"), job("b", "tx"), job("c", "tx")}, {});

    const auto first = in_flight.next(in_transaction, {.together = 2});

    EXPECT_THAT(ids_of(first), ElementsAre("a", "b"));
    EXPECT_TRUE(first.more);
    EXPECT_THAT(next({.together = 2}), ElementsAre("c"));
}

// Four mails to a server that never answers held all workers for 5 s each (issue 18).
TEST_F(InFlightJobsTest, a_kind_that_has_its_threads_waits_and_lets_others_pass) {
    const InFlightJobs::Most most{.together = 10, .of_a_kind = 1};
    in_flight.add({job("a", "mail"), job("b", "mail"), job("c", "points")}, {});

    EXPECT_THAT(next(most), ElementsAre("a"));
    EXPECT_THAT(in_flight.full_kinds(1), ElementsAre("mail"));
    const auto second = in_flight.next(in_transaction, most);
    EXPECT_THAT(ids_of(second), ElementsAre("c"));
    EXPECT_FALSE(second.more) << "no other thread need wake for b";
    EXPECT_THAT(next(most), IsEmpty());
    EXPECT_FALSE(in_flight.any_may_begin(1));

    in_flight.turn_over("mail");
    EXPECT_TRUE(in_flight.any_may_begin(1));
    EXPECT_THAT(in_flight.full_kinds(1), ElementsAre("points"));
    EXPECT_THAT(next(most), ElementsAre("b"));
}

TEST_F(InFlightJobsTest, jobs_in_transactions_together_take_one_thread) {
    const InFlightJobs::Most most{.together = 2, .of_a_kind = 2};
    in_flight.add(
        {job("a", "tx"), job("b", "tx"), job("c", "tx"), job("d", "tx"), job("e", "tx")}, {}
    );

    EXPECT_THAT(next(most), ElementsAre("a", "b"));
    EXPECT_THAT(next(most), ElementsAre("c", "d"));
    EXPECT_THAT(next(most), IsEmpty());
}

// A job that waits needs its lease renewed as much as one that is worked.
TEST_F(InFlightJobsTest, a_job_is_held_from_its_taking_until_it_is_left) {
    in_flight.add({job("a"), job("b")}, {});
    next();
    EXPECT_THAT(all(), ElementsAre("a", "b"));

    in_flight.leave("a", 0);

    EXPECT_THAT(all(), ElementsAre("b"));
}

TEST_F(InFlightJobsTest, only_a_handler_that_has_run_for_a_while_is_looked_at_and_can_be_stopped) {
    in_flight.add({job("runs"), job("waits")}, {});
    const auto token = in_flight.begin(job("runs"), 1h);
    EXPECT_THAT(in_flight.running_for(1s), IsEmpty());
    clock.at += 1s;
    ASSERT_EQ(in_flight.running_for(1s).size(), 1);

    auto another_claim = job("runs");
    another_claim.claim = 7;
    EXPECT_FALSE(in_flight.stop(another_claim));
    EXPECT_FALSE(in_flight.stop(job("waits")));
    EXPECT_FALSE(in_flight.stop(job("not here")));
    EXPECT_FALSE(token.stop_requested());
    EXPECT_TRUE(in_flight.stop(in_flight.running_for(1s).at(0)));

    EXPECT_TRUE(token.stop_requested());
    EXPECT_THAT(in_flight.running_for(1s), IsEmpty()) << "it was told already";
}

TEST_F(InFlightJobsTest, a_handler_that_has_ended_is_not_stopped) {
    in_flight.add({job("a")}, {});
    const auto token = in_flight.begin(job("a"), 1h);
    {
        const auto a = job("a");
        const InFlightJobs::Running running{in_flight, a};
        clock.at += 1s;
    }

    EXPECT_THAT(in_flight.running_for(1s), IsEmpty());
    EXPECT_FALSE(in_flight.stop(job("a")));
    EXPECT_FALSE(token.stop_requested());
}

// Its lease was not renewed any more.
TEST_F(InFlightJobsTest, a_job_that_was_lost_and_taken_again_is_held_by_its_new_claim) {
    auto again = job("a");
    again.claim = 7;
    in_flight.add({job("a")}, {});
    next();
    in_flight.add({again}, {});

    in_flight.leave("a", 0);

    EXPECT_THAT(all(), ElementsAre("a"));
    in_flight.leave("a", 7);
    EXPECT_THAT(all(), IsEmpty());
}

TEST_F(InFlightJobsTest, jobs_that_wait_can_be_given_back_and_jobs_at_work_cannot) {
    in_flight.add({job("a"), job("b"), job("c")}, {});
    next();
    clock.at += 1s;
    in_flight.add({job("d")}, {});

    EXPECT_EQ(in_flight.release(1001ms).size(), 0);
    EXPECT_EQ(in_flight.release(1s).size(), 2);
    EXPECT_THAT(all(), ElementsAre("a", "d"));
    EXPECT_EQ(in_flight.release(0ms).size(), 1);
    EXPECT_THAT(all(), ElementsAre("a"));
    EXPECT_THAT(next(), IsEmpty());
}

TEST_F(InFlightJobsTest, only_the_handler_whose_time_is_over_is_asked_to_stop) {
    in_flight.add({job("a"), job("b")}, {});
    const auto short_one = in_flight.begin(job("a"), 10ms);
    const auto long_one = in_flight.begin(job("b"), 1min);
    const auto far = clock.at + 1h;
    EXPECT_EQ(in_flight.stop_overdue(far), clock.at + 10ms);

    clock.at += 10ms;
    EXPECT_EQ(in_flight.stop_overdue(far), clock.at + 1min - 10ms);

    EXPECT_TRUE(short_one.stop_requested());
    EXPECT_FALSE(long_one.stop_requested());
}

TEST_F(InFlightJobsTest, waiting_and_stopped_jobs_have_no_deadline) {
    in_flight.add({job("waits")}, {});
    const auto called = in_flight.begin(job("a"), 10ms);
    clock.at += 10ms;
    const auto far = clock.at + 1h;
    in_flight.stop_overdue(far);
    ASSERT_TRUE(called.stop_requested());

    EXPECT_EQ(in_flight.stop_overdue(far), far);
    in_flight.stop_all();
    EXPECT_THAT(all(), ::testing::Contains("waits"));
}

TEST_F(InFlightJobsTest, a_handler_with_the_earliest_deadline_triggers_the_callback) {
    int told = 0;
    in_flight.on_sooner([&] { ++told; });
    in_flight.stop_overdue(clock.at + 1min);

    in_flight.begin(job("a"), 2min);
    EXPECT_EQ(told, 0);
    in_flight.begin(job("b"), 1s);
    EXPECT_EQ(told, 1);
    in_flight.begin(job("c"), 2s);
    EXPECT_EQ(told, 1);
}

TEST_F(InFlightJobsTest, after_stop_all_handlers_that_begin_later_are_stopped_too) {
    const auto before = in_flight.begin(job("a"), 1min);

    in_flight.stop_all();

    EXPECT_TRUE(before.stop_requested());
    EXPECT_TRUE(in_flight.begin(job("b"), 1min).stop_requested());
}

TEST(ClaimSize, takes_one_job_per_thread_and_more_while_jobs_do_not_wait) {
    ClaimSize size{4, 64};
    EXPECT_EQ(size.next(), 4);

    size.took(3, 4);
    EXPECT_EQ(size.next(), 4) << "fewer jobs came than were asked for";
    for (int i = 0; i < 10; ++i) size.took(size.next(), size.next());
    EXPECT_EQ(size.next(), 64);
    size.waited(50ms);
    EXPECT_EQ(size.next(), 64);

    size.waited(51ms);
    EXPECT_EQ(size.next(), 4);
}

TEST(ClaimSize, of_a_queue_with_limits_is_the_free_threads_until_jobs_are_known_to_be_fast) {
    ClaimSize size{16, 256};
    EXPECT_EQ(size.next_limited(3), 3);
    EXPECT_EQ(size.next_limited(0), 1);
    EXPECT_EQ(size.next_limited(17), 16);

    size.took(2, 3);
    EXPECT_EQ(size.next_limited(3), 3) << "fewer jobs came than were asked for";
    size.took(3, 3);
    EXPECT_EQ(size.next_limited(3), 3) << "none has ended";
    size.ran(50ms);
    EXPECT_EQ(size.next_limited(3), 32);
    size.waited(51ms);
    EXPECT_EQ(size.next_limited(3), 3);
    size.took(3, 3);
    EXPECT_EQ(size.next_limited(3), 32);
    size.ran(51ms);
    EXPECT_EQ(size.next_limited(3), 3);
}

TEST(ClaimSize, takes_one_job_per_thread_even_above_the_maximum) {
    EXPECT_EQ((ClaimSize{100, 64}.next()), 100);
}

}  // namespace pawl::ops
