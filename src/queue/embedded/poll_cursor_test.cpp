#include "src/queue/embedded/poll_cursor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace pawl::queue {

namespace {

const TimePoint start{std::chrono::hours{24 * 365 * 57}};

// A cursor whose first query, from the beginning, found nothing.
PollCursor busy_cursor() {
    PollCursor cursor;
    cursor.poll_done(cursor.begin_poll(start), std::nullopt);
    return cursor;
}

// Queries at each `step` until `until`, all finding nothing; returns the last.
PollCursor::Poll look_each(
    PollCursor& cursor, std::chrono::milliseconds step, TimePoint from, TimePoint until
) {
    PollCursor::Poll poll{};
    for (auto now = from; now <= until; now += step) {
        poll = cursor.begin_poll(now);
        cursor.poll_done(poll, std::nullopt);
    }
    return poll;
}

}  // namespace

TEST(PollCursor, only_the_first_query_starts_at_the_beginning) {
    PollCursor cursor;
    const auto first = cursor.begin_poll(start);
    cursor.poll_done(first, std::nullopt);

    EXPECT_EQ(first.from, from_the_beginning);
    EXPECT_EQ(cursor.begin_poll(start + 1ms).from, start - 100ms);
}

TEST(PollCursor, a_query_starts_at_the_last_claimed_job_if_there_may_be_more) {
    PollCursor cursor;

    cursor.poll_done(cursor.begin_poll(start), start - 1h);

    EXPECT_EQ(cursor.begin_poll(start + 1ms).from, start - 1h - 100ms);
}

TEST(PollCursor, frequent_queries_rarely_go_back_further_than_150_ms) {
    auto cursor = busy_cursor();
    int further = 0;

    for (auto now = start; now < start + 100s; now += 5ms) {
        const auto poll = cursor.begin_poll(now);
        if (poll.from < now - 150ms) ++further;
        cursor.poll_done(poll, std::nullopt);
    }

    EXPECT_GT(further, 200) << "each half a second";
    EXPECT_LE(further, 230);
}

TEST(PollCursor, a_clock_set_back_causes_one_query_from_the_beginning) {
    auto cursor = busy_cursor();

    const auto back = cursor.begin_poll(start - 1h);
    cursor.poll_done(back, std::nullopt);

    EXPECT_EQ(back.from, from_the_beginning);
    EXPECT_EQ(cursor.begin_poll(start - 1h + 1ms).from, start - 1h - 100ms);
}

TEST(PollCursor, a_small_difference_between_clock_readings_is_not_a_clock_set_back) {
    auto cursor = busy_cursor();

    EXPECT_NE(cursor.begin_poll(start - 900ms).from, from_the_beginning);
}

TEST(PollCursor, a_job_of_a_claim_that_was_rolled_back_is_found_again) {
    auto cursor = busy_cursor();
    look_each(cursor, 10ms, start, start + 2s);
    auto undone = cursor.begin_poll(start + 3s);
    undone.from = start + 1s;  // Where the first ready job was.

    cursor.poll_failed(undone);

    EXPECT_EQ(cursor.begin_poll(start + 3s).from, start + 1s);
}

TEST(PollCursor, a_first_query_that_exceeds_its_deadline_is_not_repeated_by_each_worker) {
    PollCursor cursor;

    cursor.poll_failed(cursor.begin_poll(start));

    EXPECT_EQ(cursor.begin_poll(start + 1ms).from, start - 10s - 100ms);
}

TEST(PollCursor, a_query_that_began_earlier_does_not_skip_a_job_seen_meanwhile) {
    auto cursor = busy_cursor();
    const auto before = cursor.begin_poll(start + 1s);

    cursor.job_seen_at(start - 1h);
    cursor.poll_done(before, std::nullopt);

    EXPECT_LE(cursor.begin_poll(start + 2s).from, start - 1h);
}

TEST(PollCursor, a_job_seen_after_the_position_changes_nothing) {
    auto cursor = busy_cursor();

    cursor.job_seen_at(start + 1h);

    EXPECT_EQ(cursor.begin_poll(start + 1ms).from, start - 100ms);
}

TEST(PollCursor, after_an_old_job_the_ones_behind_it_are_found) {
    auto cursor = busy_cursor();
    cursor.job_seen_at(start - 1h);

    cursor.poll_done(cursor.begin_poll(start + 1s), start - 59min);

    EXPECT_EQ(cursor.begin_poll(start + 1s).from, start - 59min);
}

// A table of ready jobs, most of which are hidden for a while, and a worker that polls it.
class Life {
public:
    explicit Life(std::uint64_t seed)
        : dice_{seed}, limit_{1 + up_to(20).count()}, rarely_{chance(2) ? 20 : 400} {
        if (chance(2))
            for (int n = 0; n < 300; ++n)
                jobs_.push_back({start - up_to(3'600'000), start - 1h, 0ms});
    }

    // How often a job was overlooked for longer than promised.
    int passed_over(std::chrono::seconds length) {
        for (auto now = start; now < start + length; now += up_to(rarely_)) {
            stage(now);
            poll(now);
            before_ = now;
        }
        return passed_over_;
    }
    int taken() const { return taken_; }

private:
    struct Waiting {
        TimePoint run_at;
        TimePoint seen_from;  // Until then it is not committed, or another worker holds it.
        std::chrono::milliseconds out_of_sight;
    };

    std::chrono::milliseconds up_to(int most) {
        return std::chrono::milliseconds{std::uniform_int_distribution<int>{0, most}(dice_)};
    }
    bool chance(int one_in) { return up_to(one_in - 1) == 0ms; }

    void stage(TimePoint now) {
        for (auto n = up_to(3).count(); n > 0; --n) {
            const auto at = before_ + (now - before_) / 2;
            const auto hidden = chance(2) ? 0ms : up_to(chance(2) ? 20 : 5'000);
            jobs_.push_back({at, at + hidden, hidden});
        }
    }

    void poll(TimePoint now) {
        auto poll = cursor_.begin_poll(now);
        if (!std::ranges::is_sorted(jobs_, {}, &Waiting::run_at))
            std::ranges::sort(jobs_, {}, &Waiting::run_at);
        const auto there = [&](const Waiting& job) {
            return job.seen_from <= now && job.run_at >= poll.from && job.run_at <= now;
        };
        const auto first = std::ranges::find_if(jobs_, there);
        if (first != jobs_.end()) poll.from = first->run_at;
        std::optional<TimePoint> last;
        std::int64_t found = 0;
        std::erase_if(jobs_, [&](Waiting& job) {
            if (!there(job) || found == limit_) return false;
            // Another server claims it and gives it back. If it was behind the cursor before, only
            // a sweep finds it.
            if (job.out_of_sight == 0ms && chance(10)) {
                job.out_of_sight = up_to(5'000);
                job.seen_from = now + job.out_of_sight;
                return false;
            }
            ++found;
            last = job.run_at;
            return true;
        });
        taken_ += static_cast<int>(found);
        cursor_.poll_done(poll, found == limit_ ? last : std::nullopt);
        if (found == limit_) return;  // There may be more, which wait for their turn.
        for (const auto& job : jobs_)
            if (job.run_at <= now &&
                now > job.seen_from + 10 * job.out_of_sight + std::chrono::milliseconds{rarely_})
                ++passed_over_;
    }

    std::mt19937_64 dice_;
    std::int64_t limit_;
    int rarely_;  // At most this many ms between two queries.
    std::vector<Waiting> jobs_;
    PollCursor cursor_;
    TimePoint before_{start};
    int passed_over_{};
    int taken_{};
};

// The promise holds for frequent and rare polls, with and without a backlog.
TEST(PollCursor, a_job_hidden_for_up_to_5_s_waits_at_most_ten_times_as_long) {
    int taken = 0;

    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Life life{seed};
        EXPECT_EQ(life.passed_over(60s), 0) << "with seed " << seed;
        taken += life.taken();
    }

    EXPECT_GT(taken, 10'000);
}

TEST(Sweeps, start_at_the_beginning_each_time_if_that_is_fast) {
    Sweeps sweeps;

    for (int round = 0; round < 3; ++round) {
        const auto sweep = sweeps.begin(start + round * 20s);
        EXPECT_TRUE(sweep.whole);
        EXPECT_EQ(sweep.leases_since, from_the_beginning);
        sweeps.ended(sweep, start + round * 20s + 900ms);
    }
}

TEST(Sweeps, take_at_most_a_twentieth_of_the_time) {
    Sweeps sweeps;
    sweeps.ended(sweeps.begin(start), start + 3s);

    const auto between = sweeps.begin(start + 62s);
    sweeps.ended(between, start + 62s);

    EXPECT_FALSE(between.whole);
    EXPECT_EQ(between.leases_since, start - 10s);
    EXPECT_EQ(sweeps.begin(start + 62s).leases_since, start + 52s);
    EXPECT_TRUE(sweeps.begin(start + 63s).whole);
}

TEST(Sweeps, a_sweep_that_took_too_long_is_retried_after_100_s_and_leases_are_read_meanwhile) {
    Sweeps sweeps;

    sweeps.took_too_long(sweeps.begin(start));

    EXPECT_EQ(sweeps.begin(start + 20s).leases_since, start - 10s);
    EXPECT_FALSE(sweeps.begin(start + 99s).whole);
    EXPECT_TRUE(sweeps.begin(start + 100s).whole);
}

// An hour of suspension, or a clock set by an hour, once delayed the next sweep by twenty hours.
TEST(Sweeps, a_sweep_during_which_the_process_was_suspended_counts_as_the_longest_possible) {
    Sweeps sweeps;

    sweeps.ended(sweeps.begin(start), start + 1h);

    EXPECT_FALSE(sweeps.begin(start + 1h + 199s).whole);
    EXPECT_TRUE(sweeps.begin(start + 1h + 200s).whole);
}

TEST(Sweeps, a_clock_that_was_set_back_makes_the_next_whole) {
    Sweeps sweeps;
    sweeps.ended(sweeps.begin(start), start + 5s);

    EXPECT_TRUE(sweeps.begin(start - 1h).whole);
}

}  // namespace pawl::queue
