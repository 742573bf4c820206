#include "src/ops/enqueuer.hpp"
#include "src/ops/reaper.hpp"
#include "src/queue/embedded/embedded_dead_letters.hpp"
#include "src/queue/embedded/embedded_jobs.hpp"
#include "src/queue/embedded/embedded_queue.hpp"
#include "tests/conformance/in_tx.hpp"

#include <gmock/gmock.h>

// Jobs that are staged once for a key, on each store.
namespace pawl::conformance {

namespace {

using ::testing::HasSubstr;

struct Index {
    static constexpr std::string_view kind = "index";
    std::int64_t customer{};
};
struct Mail {
    static constexpr std::string_view kind = "mail";
    std::int64_t customer{};
};

constexpr Sql count_all = on_all(
    "count_all_jobs_and_staged",
    "SELECT (SELECT count(*) FROM pawl_jobs) + (SELECT count(*) FROM pawl_staged_jobs)"
);

class UniqueJobsTest : public InTx {
protected:
    Staged stage(const StageOptions& options = {.unique = "17"}) {
        return in_tx([&](Tx& tx) { return tx.stage(Index{17}, options); });
    }
    std::string problem(const StageOptions& options) {
        std::string why;
        in_tx([&](Tx& tx) {
            try {
                tx.stage(Index{17}, options);
            } catch (const std::invalid_argument& error) {
                why = error.what();
            }
        });
        return why;
    }
    std::int64_t count() { return read_rows<std::int64_t>(*store, count_all).at(0); }
    queue::ClaimedJob claim() { return queue.claim(1, 30s).at(0); }
    queue::EmbeddedQueue queue{*store};
};
PAWL_ON_EACH_STORE(UniqueJobsTest);

}  // namespace

TEST_P(UniqueJobsTest, a_second_job_is_not_staged_and_names_the_first) {
    const auto first = stage();
    const auto second = stage();

    EXPECT_TRUE(first.is_new);
    EXPECT_EQ(first.id.size(), 24);
    EXPECT_FALSE(second.is_new);
    EXPECT_EQ(second.id, first.id);
    EXPECT_EQ(count(), 1);
    EXPECT_EQ(claim().raw.jid, first.id);
}

TEST_P(UniqueJobsTest, jobs_without_a_key_have_no_limit) {
    EXPECT_TRUE(stage({}).is_new);
    EXPECT_TRUE(stage({}).is_new);
}

TEST_P(UniqueJobsTest, another_kind_or_key_is_another_job) {
    stage();

    EXPECT_TRUE(stage({.unique = "18"}).is_new);
    EXPECT_TRUE(in_tx([](Tx& tx) { return tx.stage(Mail{17}, {.unique = "17"}); }).is_new);
}

TEST_P(UniqueJobsTest, one_transaction_stages_a_key_once) {
    in_tx([](Tx& tx) {
        const auto first = tx.stage(Index{1}, {.unique = "17"});
        const auto second = tx.stage(Index{2}, {.unique = "17", .within = 1min});
        EXPECT_FALSE(second.is_new);
        EXPECT_EQ(second.id, first.id);
    });

    EXPECT_EQ(count(), 1);
}

TEST_P(UniqueJobsTest, a_job_that_runs_or_waits_for_its_next_try_keeps_its_key) {
    const auto first = stage();
    const auto job = claim();
    EXPECT_EQ(stage().id, first.id);

    EXPECT_TRUE(queue.reschedule(job, 10s, "no index"));

    EXPECT_EQ(stage().id, first.id);
}

TEST_P(UniqueJobsTest, a_job_that_is_done_dead_or_cancelled_frees_its_key) {
    stage();
    EXPECT_TRUE(queue.finish(claim()));
    EXPECT_TRUE(stage().is_new);

    EXPECT_TRUE(queue.dead_letter(claim(), "no index"));
    const auto third = stage();
    EXPECT_TRUE(third.is_new);

    queue::EmbeddedJobs jobs{*store};
    const std::vector ids{jobs.page({}, "", 10).at(0).id};
    jobs.cancel(ids, {"ann", "not needed"});
    EXPECT_TRUE(stage().is_new);
}

TEST_P(UniqueJobsTest, a_dead_job_that_is_merged_has_no_key_and_disturbs_none) {
    stage();
    EXPECT_TRUE(queue.dead_letter(claim(), "no index"));
    const auto second = stage();
    queue::EmbeddedDeadLetters letters{*store};

    const std::vector ids{letters.page({}, "", 10).at(0).id};
    letters.merge(ids, {"ann", "try again"}, std::nullopt);

    EXPECT_EQ(count(), 2);
    EXPECT_EQ(stage().id, second.id);
}

TEST_P(UniqueJobsTest, within_a_time_no_other_is_staged_although_the_first_is_done) {
    const StageOptions options{.unique = "17", .within = 10min};
    const auto first = stage(options);
    EXPECT_TRUE(queue.finish(claim()));
    clock.advance(10min - 1ms);

    const auto second = stage(options);
    clock.advance(1ms);
    const auto third = stage(options);

    EXPECT_FALSE(second.is_new);
    EXPECT_EQ(second.id, first.id);
    EXPECT_TRUE(third.is_new);
}

TEST_P(UniqueJobsTest, after_that_time_an_unfinished_job_still_has_its_key) {
    const StageOptions options{.unique = "17", .within = 10min};
    const auto first = stage(options);
    clock.advance(1h);

    EXPECT_EQ(stage(options).id, first.id);

    EXPECT_TRUE(queue.finish(claim()));
    EXPECT_TRUE(stage(options).is_new) << "the refused one began no time of its own";
}

TEST_P(UniqueJobsTest, a_job_that_was_rolled_back_has_no_key) {
    EXPECT_ANY_THROW(in_tx([](Tx& tx) {
        tx.stage(Index{17}, {.unique = "17", .within = 1h});
        throw std::runtime_error{"after all"};
    }));

    EXPECT_TRUE(stage({.unique = "17", .within = 1h}).is_new);
}

TEST_P(UniqueJobsTest, a_clock_that_was_far_ahead_does_not_keep_a_key_forever) {
    const StageOptions options{.unique = "17", .within = 10min};
    clock.advance(365 * 24h);
    stage(options);
    EXPECT_TRUE(queue.finish(claim()));
    clock.advance(-365 * 24h);

    EXPECT_TRUE(stage(options).is_new);
}

TEST_P(UniqueJobsTest, on_an_external_queue_only_the_time_counts) {
    staging = engine::Staging::to_be_pushed;
    const StageOptions options{.unique = "17", .within = 10min};
    const auto first = stage(options);
    EXPECT_EQ(stage(options).id, first.id);
    EXPECT_EQ(count(), 1);
    EXPECT_THAT(problem({.unique = "17"}), HasSubstr("unique needs within"));
    clock.advance(10min);

    EXPECT_TRUE(stage(options).is_new);
}

// The service's queue was changed to an external one: what is left moves without its key.
TEST_P(UniqueJobsTest, a_job_that_moves_to_an_external_queue_frees_its_key) {
    stage();
    struct Nowhere final : queue::Pusher {
        queue::PushReport push(std::span<const queue::StagedJob>) override { return {}; }
    } nowhere;
    ops::Enqueuer enqueuer{*store, clock, &nowhere, {}};

    EXPECT_EQ(enqueuer.move_leftovers().moved, 1);

    EXPECT_TRUE(stage().is_new);
}

TEST_P(UniqueJobsTest, the_reaper_deletes_the_times_that_are_over) {
    stage({.unique = "17", .within = 10min});
    clock.advance(10min + 1ms);

    EXPECT_EQ((ops::Reaper{*store, clock, {}}.run_once(clock.now()).windows_forgotten), 1);
}

TEST_P(UniqueJobsTest, options_out_of_their_bounds_are_named) {
    EXPECT_THAT(problem({.due_in = -1ms}), HasSubstr("kind 'index' can't be staged: due_in is -1"));
    EXPECT_THAT(problem({.due_in = 24h * 3'650 + 1ms}), HasSubstr("due_in is"));
    EXPECT_THAT(problem({.within = 1min}), HasSubstr("within needs unique"));
    EXPECT_THAT(problem({.unique = "17", .within = -1ms}), HasSubstr("within is -1 ms"));
    EXPECT_THAT(
        problem({.unique = "17", .within = 720h + 1ms}),
        HasSubstr("within is 2592000001 ms: 0 to 2592000000")
    );
    EXPECT_THAT(
        problem({.unique = std::string(201, 'x')}), HasSubstr("unique has 201 bytes: at most 200")
    );
    EXPECT_EQ(problem({.unique = std::string(200, 'x'), .within = 720h}), "");
    EXPECT_EQ(count(), 1);
}

}  // namespace pawl::conformance
