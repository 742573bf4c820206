#include "benchmarks/job_ledger.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace pawl::bench {

using namespace std::chrono_literals;

namespace {
const JobLedger::Time noon{1h};
}

TEST(JobLedger, a_latency_is_from_the_commit_to_the_end_of_the_handler) {
    JobLedger ledger{10};
    const auto first = ledger.take(2).value();

    ledger.committed(first, 2, noon);
    ledger.ended(first, noon + 50us);
    ledger.ended(first + 1, noon + 60us);

    EXPECT_EQ(ledger.latencies().count(), 2);
    EXPECT_EQ(ledger.latencies().at(0), 50);
    EXPECT_EQ(ledger.latencies().largest(), 60);
}

TEST(JobLedger, a_handler_that_ended_before_the_report_of_its_commit_has_latency_zero) {
    JobLedger ledger{10};
    const auto first = ledger.take(1).value();

    ledger.ended(first, noon - 5us);
    ledger.committed(first, 1, noon);

    EXPECT_EQ(ledger.latencies().count(), 1);
    EXPECT_EQ(ledger.latencies().largest(), 0);
}

TEST(JobLedger, a_job_that_ran_twice_ended_at_its_first_run) {
    JobLedger ledger{10};
    const auto first = ledger.take(1).value();
    ledger.committed(first, 1, noon);

    ledger.ended(first, noon + 10us);
    ledger.ended(first, noon + 90us);

    EXPECT_EQ(ledger.ended_count(), 1);
    EXPECT_EQ(ledger.latencies().largest(), 10);
}

TEST(JobLedger, a_job_that_never_ended_has_no_latency) {
    JobLedger ledger{10};

    ledger.committed(ledger.take(3).value(), 3, noon);

    EXPECT_EQ(ledger.committed_count(), 3);
    EXPECT_EQ(ledger.latencies().count(), 0);
}

TEST(JobLedger, no_number_is_returned_twice_or_beyond_the_capacity) {
    JobLedger ledger{5};

    EXPECT_EQ(ledger.take(3), 0);
    EXPECT_EQ(ledger.take(2), 3);
    EXPECT_EQ(ledger.take(1), std::nullopt);
}

TEST(JobLedger, a_wait_ends_when_the_jobs_have_ended_or_no_more_jobs_end) {
    JobLedger ledger{10};
    const auto first = ledger.take(2).value();
    std::jthread worker{[&] {
        ledger.ended(first, noon);
        ledger.ended(first + 1, noon);
    }};

    EXPECT_TRUE(ledger.wait_ended(2, 20s));
    EXPECT_FALSE(ledger.wait_ended(3, 1ms));
}

}  // namespace pawl::bench
