#include "src/ops/enqueuer.hpp"

#include "src/queue/embedded/embedded_dead_letters.hpp"
#include "src/queue/embedded/embedded_queue.hpp"
#include "tests/conformance/each_store.hpp"

#include <gmock/gmock.h>

// The drain of the staged jobs, on each store. The article's enqueuer loses jobs in two cases
// (brandur/rocket-rides-atomic@94b370d, api/enqueuer.rb); each has a test here.
namespace pawl::conformance {

namespace {

using queue::PushReport;
using queue::StagedJob;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Texts = std::vector<std::string>;

constexpr Sql count_staged = on_all("count_staged", "SELECT count(*) FROM pawl_staged_jobs");
constexpr Sql insert_with_id{
    "insert_with_id",
    "INSERT INTO pawl_staged_jobs (id, jid, queue, kind, args, run_at, created_at) VALUES ($1, $2, "
    "'default', 'k', '{}', $3, $3)",
    "INSERT INTO pawl_staged_jobs (id, jid, queue, kind, args, run_at, created_at) VALUES ($1, $2, "
    "'default', 'k', '{}', $3, $3)"};

// An external queue, as an enqueuer sees it.
class FakeOutside final : public queue::Pusher {
public:
    PushReport push(std::span<const StagedJob> jobs) override {
        if (before) before();
        PushReport report;
        for (const auto& job : jobs) {
            if (refuses == job.jid) {
                report.refused.push_back({job.id, "too large"});
                continue;
            }
            if (loses == job.jid) continue;
            arrived.push_back(job);
            report.sent.push_back(job.id);
        }
        if (after) after();
        return report;
    }
    void forget(std::span<const std::string> jids) override {
        forgotten.insert(forgotten.end(), jids.begin(), jids.end());
        if (before_forgetting) before_forgetting();
    }
    Texts jids() const {
        Texts found;
        for (const auto& job : arrived) found.push_back(job.jid);
        return found;
    }

    std::vector<StagedJob> arrived;
    std::function<void()> before;
    std::function<void()> after;
    std::string refuses;
    std::string loses;  // Neither sent nor refused: it comes again.
    Texts forgotten;
    std::function<void()> before_forgetting;
};

// The clock of a process that is suspended after its first reading.
class PausedClock final : public base::Clock {
public:
    PausedClock(base::Clock& clock, std::chrono::milliseconds pause)
        : clock_{clock}, pause_{pause} {}
    TimePoint now() override { return clock_.now() + (asked_++ == 0 ? 0ms : pause_); }
    std::chrono::steady_clock::time_point steady() override { return clock_.steady(); }

private:
    base::Clock& clock_;
    std::chrono::milliseconds pause_;
    int asked_{0};
};

[[noreturn]] void away() {
    throw StoreError{
        StoreError::Kind::unavailable, StoreError::Effect::in_doubt, "push", "no answer"};
}

class EnqueuerTest : public OnEachStore {
protected:
    void stage(const std::string& jid, std::chrono::milliseconds due_in = 0s) {
        const auto now = clock.now();
        write_one(
            *store,
            sql::insert_staged_job,
            jid,
            "default",
            "send_receipt",
            R"({"ride":1})",
            now + due_in,
            std::optional<std::int64_t>{7},
            now
        );
    }
    std::int64_t staged() { return read_rows<std::int64_t>(*store, count_staged).at(0); }

    FakeOutside outside;
    ops::EnqueuerOptions options{.batch_max = 10, .claim = 30s};
    ops::Enqueuer enqueuer{*store, clock, &outside, options};
    ops::Enqueuer another{*store, clock, &outside, options};
};
PAWL_ON_EACH_STORE(EnqueuerTest);

}  // namespace

TEST_P(EnqueuerTest, a_staged_job_is_sent_unchanged_and_deleted) {
    stage("jid");

    EXPECT_EQ(enqueuer.run_once().sent, 1);

    ASSERT_THAT(outside.arrived, SizeIs(1));
    const auto& job = outside.arrived[0];
    EXPECT_EQ(job.jid, "jid");
    EXPECT_EQ(job.queue, "default");
    EXPECT_EQ(job.kind, "send_receipt");
    EXPECT_EQ(job.args, R"({"ride":1})");
    EXPECT_EQ(job.key_id, 7);
    EXPECT_EQ(job.created_at, clock.now());
    EXPECT_EQ(job.failures, 0);
    EXPECT_EQ(job.history, "[]");
    EXPECT_EQ(staged(), 0);
    EXPECT_EQ(enqueuer.run_once().sent, 0);
}

// DELETE ... WHERE id <= the last one's: a transaction that began earlier and committed later has a
// lower id than what was sent (research: the article's isolation setting is ignored).
TEST_P(EnqueuerTest, a_lower_id_that_commits_while_a_batch_is_sent_is_not_lost) {
    write_one(*store, insert_with_id, std::int64_t{1'000}, "sent", clock.now());
    outside.before = [&] {
        outside.before = {};
        write_one(*store, insert_with_id, std::int64_t{999}, "late", clock.now());
    };

    enqueuer.run_once();

    EXPECT_EQ(staged(), 1);
    enqueuer.run_once();
    EXPECT_EQ(outside.jids(), (Texts{"sent", "late"}));
    EXPECT_EQ(staged(), 0);
}

// `jobs.last` of an ordered and limited dataset is the table's newest row: all jobs beyond the
// limit were deleted unsent.
TEST_P(EnqueuerTest, jobs_beyond_a_batch_are_sent_by_the_next) {
    Texts all;
    for (int i = 10; i < 35; ++i) {
        all.push_back("j" + std::to_string(i));
        stage(all.back());
    }

    EXPECT_EQ(enqueuer.run_once().sent, 10);
    EXPECT_EQ(staged(), 15);
    EXPECT_EQ(enqueuer.run_once().sent, 10);
    EXPECT_EQ(enqueuer.run_once().sent, 5);

    EXPECT_EQ(outside.jids(), all);
}

TEST_P(EnqueuerTest, a_job_staged_for_later_is_not_sent_early) {
    stage("later", 5min);
    clock.advance(5min - 1ms);
    EXPECT_EQ(enqueuer.run_once().sent, 0);

    clock.advance(1ms);

    EXPECT_EQ(enqueuer.run_once().sent, 1);
}

TEST_P(EnqueuerTest, a_job_being_sent_is_skipped_by_other_servers) {
    for (int i = 0; i < 15; ++i) stage("j" + std::to_string(i));
    outside.before = [&] {
        outside.before = {};
        EXPECT_EQ(another.run_once().sent, 5);
    };

    EXPECT_EQ(enqueuer.run_once().sent, 10);

    auto sent = outside.jids();
    std::sort(sent.begin(), sent.end());
    EXPECT_EQ(std::unique(sent.begin(), sent.end()), sent.end());
    EXPECT_THAT(sent, SizeIs(15));
}

TEST_P(EnqueuerTest, after_a_crash_between_push_and_delete_a_job_is_sent_under_the_same_id) {
    stage("jid");
    struct Death {};
    outside.after = [] { throw Death{}; };  // What it claimed stays claimed: see below.
    EXPECT_THROW(enqueuer.run_once(), Death);
    write_one(
        *store,
        on_all("claim_all", "UPDATE pawl_staged_jobs SET claimed_until = $1"),
        clock.now() + options.claim
    );
    outside.after = {};

    EXPECT_EQ(another.run_once().sent, 0) << "the dead one might live";
    clock.advance(options.claim + 1ms);
    EXPECT_EQ(another.run_once().sent, 1);

    EXPECT_EQ(outside.jids(), (Texts{"jid", "jid"}));
    EXPECT_EQ(staged(), 0);
}

TEST_P(EnqueuerTest, a_server_that_starts_frees_what_its_predecessor_was_sending) {
    stage("jid");
    outside.before = [&] {
        outside.before = {};
        EXPECT_EQ(write_one(*store, sql::release_previous_server_staged_jobs), 1);
        EXPECT_EQ(another.run_once().sent, 1);
    };

    enqueuer.run_once();

    EXPECT_EQ(outside.jids(), (Texts{"jid", "jid"}));
    EXPECT_EQ(staged(), 0);
}

TEST_P(EnqueuerTest, a_claim_that_ends_later_than_possible_is_over) {
    stage("jid");
    write_one(
        *store,
        on_all("claim_all", "UPDATE pawl_staged_jobs SET claimed_until = $1"),
        clock.now() + 24h
    );

    EXPECT_EQ(enqueuer.run_once().sent, 1);
}

TEST_P(EnqueuerTest, during_an_outage_of_the_queue_no_job_is_lost_or_stays_claimed) {
    stage("jid");
    outside.before = &away;

    EXPECT_THROW(enqueuer.run_once(), StoreError);
    outside.before = {};

    EXPECT_EQ(another.run_once().sent, 1);
    EXPECT_EQ(outside.jids(), Texts{"jid"});
}

// Issue 16, number 22, as the two below. Another server may have sent it meanwhile, and told the
// queue to forget it.
TEST_P(EnqueuerTest, a_server_that_was_paused_over_its_claim_sends_nothing) {
    stage("jid");
    PausedClock paused{clock, options.claim / 2};
    ops::Enqueuer late{*store, paused, &outside, options};

    EXPECT_EQ(late.run_once().sent, 0);

    EXPECT_THAT(outside.jids(), IsEmpty());
    clock.advance(options.claim + 1ms);
    EXPECT_EQ(another.run_once().sent, 1);
}

// It may have arrived without an answer: a queue that forgot it would accept it twice.
TEST_P(EnqueuerTest, a_job_that_may_not_have_arrived_is_neither_deleted_nor_forgotten) {
    stage("lost");
    stage("well");
    outside.loses = "lost";

    EXPECT_EQ(enqueuer.run_once().sent, 1);

    EXPECT_EQ(outside.forgotten, Texts{"well"});
    EXPECT_EQ(staged(), 1);
    outside.loses.clear();
    clock.advance(options.claim + 1ms);
    EXPECT_EQ(another.run_once().sent, 1);
}

TEST_P(EnqueuerTest, the_queue_forgets_a_job_only_when_it_cannot_be_sent_again) {
    stage("jid");
    std::optional<std::int64_t> left;
    outside.before_forgetting = [&] { left = staged(); };

    EXPECT_EQ(enqueuer.run_once().sent, 1);

    EXPECT_EQ(left, 0);
}

TEST_P(EnqueuerTest, a_job_that_the_queue_refuses_is_dead_and_blocks_no_other) {
    stage("too large");
    stage("well");
    outside.refuses = "too large";

    const auto report = enqueuer.run_once();

    EXPECT_EQ(report.refused, 1);
    EXPECT_EQ(report.sent, 1);
    EXPECT_EQ(staged(), 0);
    const auto dead = queue::EmbeddedDeadLetters{*store}.page({}, "", 10);
    ASSERT_THAT(dead, SizeIs(1));
    EXPECT_EQ(dead[0].jid, "too large");
    EXPECT_EQ(dead[0].key_id, 7);
    EXPECT_THAT(dead[0].error, HasSubstr("too large"));
    EXPECT_FALSE(queue::EmbeddedQueue{*store}.next_due()) << "dead and alive";
}

TEST_P(EnqueuerTest, a_poll_that_finds_nothing_costs_no_commit) {
    stage("later", 1h);
    const auto before = store->stats().commits;

    enqueuer.run_once();

    EXPECT_EQ(store->stats().commits, before);
}

TEST_P(EnqueuerTest, after_a_change_of_queue_embedded_jobs_are_sent_with_their_history) {
    ops::Enqueuer to_embedded{*store, clock, nullptr, options};
    stage("failed");
    stage("running");
    stage("later", 1h);
    EXPECT_EQ(to_embedded.move_leftovers().moved, 3);
    queue::EmbeddedQueue embedded{*store};
    auto failed = embedded.claim(1, 30s).at(0);
    embedded.mark_called(failed);
    embedded.reschedule(failed, 1s, "no answer");
    const auto running = embedded.claim(1, 30s);
    clock.advance(1s);

    EXPECT_EQ(enqueuer.move_leftovers().moved, 2);
    enqueuer.run_once();

    ASSERT_EQ(outside.jids(), Texts{"failed"}) << "the third is not due";
    const auto& job = outside.arrived[0];
    EXPECT_EQ(job.failures, 1);
    EXPECT_EQ(job.called_at, clock.now() - 1s);
    EXPECT_EQ(job.first_failed_at, clock.now() - 1s);
    EXPECT_EQ(job.last_failed_at, clock.now() - 1s);
    EXPECT_EQ(job.last_error, "no answer");
    EXPECT_THAT(job.history, HasSubstr("no answer"));
    EXPECT_TRUE(embedded.finish(running.at(0))) << "what a worker has in flight stays its own";
}

TEST_P(EnqueuerTest, a_dead_worker_of_the_embedded_queue_keeps_no_job_from_being_sent) {
    ops::Enqueuer to_embedded{*store, clock, nullptr, options};
    stage("jid");
    to_embedded.move_leftovers();
    queue::EmbeddedQueue{*store}.claim(1, 30s);
    clock.advance(30s);

    EXPECT_EQ(enqueuer.move_leftovers().moved, 1);

    enqueuer.run_once();
    EXPECT_EQ(outside.jids(), Texts{"jid"});
}

TEST_P(EnqueuerTest, after_a_change_to_the_embedded_queue_staged_jobs_become_jobs) {
    ops::Enqueuer to_embedded{*store, clock, nullptr, options};
    stage("now");
    stage("later", 1h);

    EXPECT_EQ(to_embedded.move_leftovers().moved, 2);
    EXPECT_EQ(to_embedded.move_leftovers().moved, 0);
    EXPECT_EQ(to_embedded.run_once().sent, 0);

    EXPECT_EQ(staged(), 0);
    queue::EmbeddedQueue embedded{*store};
    EXPECT_THAT(embedded.claim(10, 30s), SizeIs(1));
    EXPECT_EQ(embedded.next_due(), clock.now() + 1h);
    EXPECT_THAT(outside.arrived, IsEmpty());
}

// Workers' polls begin after what they have claimed.
TEST_P(EnqueuerTest, after_a_change_of_queue_old_jobs_are_claimed_at_once_in_order) {
    ops::Enqueuer to_embedded{*store, clock, nullptr, options};
    stage("second", 2s);
    stage("first", 1s);
    clock.advance(1h);
    queue::EmbeddedQueue embedded{*store};
    EXPECT_THAT(embedded.claim(10, 30s), IsEmpty());

    EXPECT_EQ(to_embedded.move_leftovers().moved, 2);

    const auto jobs = embedded.claim(10, 30s);
    ASSERT_THAT(jobs, SizeIs(2));
    EXPECT_EQ(jobs[0].raw.jid, "first");
}

TEST_P(EnqueuerTest, staged_jobs_are_counted_by_queue) {
    struct Count {
        std::string queue;
        std::int64_t jobs;
        TimePoint oldest;
    };
    stage("a", 5s);
    stage("b");

    const auto counts = read_rows<Count>(*store, sql::count_staged_jobs);

    ASSERT_THAT(counts, SizeIs(1));
    EXPECT_EQ(counts[0].jobs, 2);
    EXPECT_EQ(counts[0].oldest, clock.now());
}

}  // namespace pawl::conformance
