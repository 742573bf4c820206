#include "src/ops/enqueuer.hpp"
#include "src/ops/reaper.hpp"
#include "src/queue/embedded/embedded_dead_letters.hpp"
#include "src/queue/embedded/embedded_queue.hpp"
#include "tests/conformance/key_world.hpp"

#include <gmock/gmock.h>

// Issue 16, number 14: a row that does not decode (PAWL0022) neither hides nor blocks the others.
// SQLite can hold numbers that exceed our fields, PostgreSQL times that do not decode.
namespace pawl::conformance {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Texts = std::vector<std::string>;

constexpr Sql damage_job{
    "damage_job",
    "UPDATE pawl_jobs SET failures = 3000000000 WHERE jid = $1",
    "UPDATE pawl_jobs SET created_at = 'infinity' WHERE jid = $1"};
constexpr Sql damage_due_run_at{
    "damage_due_run_at", "UPDATE pawl_jobs SET run_at = '2001-99-99' WHERE jid = $1", {}};
constexpr Sql damage_run_at{
    "damage_run_at",
    "UPDATE pawl_jobs SET run_at = 'tomorrow' WHERE jid = $1",
    "UPDATE pawl_jobs SET run_at = 'infinity' WHERE jid = $1"};
constexpr Sql damage_staged{
    "damage_staged",
    "UPDATE pawl_staged_jobs SET failures = 3000000000 WHERE jid = $1",
    "UPDATE pawl_staged_jobs SET created_at = 'infinity' WHERE jid = $1"};
constexpr Sql damage_dead{
    "damage_dead",
    "UPDATE pawl_dead_jobs SET failures = 3000000000 WHERE jid = $1",
    "UPDATE pawl_dead_jobs SET created_at = 'infinity' WHERE jid = $1"};
constexpr Sql damage_history{
    "damage_history",
    "UPDATE pawl_dead_jobs SET history = 'no list' WHERE jid = $1",
    "UPDATE pawl_dead_jobs SET history = '7' WHERE jid = $1"};
// These columns have 32 bits on PostgreSQL: no number is out of range there.
constexpr Sql damage_status{
    "damage_status",
    "UPDATE pawl_idempotency_keys SET response_status = 3000000000 WHERE id = $1",
    "UPDATE pawl_idempotency_keys SET response_status = response_status WHERE id = $1"};

// Accepts all jobs.
class Outside final : public queue::Pusher {
public:
    queue::PushReport push(std::span<const queue::StagedJob> jobs) override {
        queue::PushReport report;
        for (const auto& job : jobs) {
            arrived.push_back(job.jid);
            report.sent.push_back(job.id);
        }
        return report;
    }
    Texts arrived;
};

class DamagedRowsTest : public KeyTest {
protected:
    void stage(const Sql& insert, const std::string& jid) {
        const std::optional<std::int64_t> request{7};
        run(insert, jid, "default", "send_receipt", "{}", now(), request, now());
    }
    static Texts jids(const std::vector<queue::ClaimedJob>& jobs) {
        Texts found;
        for (const auto& job : jobs) found.push_back(job.raw.jid);
        return found;
    }
    queue::EmbeddedQueue queue{*store};
    queue::EmbeddedDeadLetters letters{*store};
};
PAWL_ON_EACH_STORE(DamagedRowsTest);

}  // namespace

TEST_P(DamagedRowsTest, a_damaged_job_is_a_dead_letter_and_the_others_are_worked) {
    for (const auto* jid : {"a", "b", "c"}) stage(sql::insert_job, jid);
    run(damage_job, "b");

    EXPECT_THAT(jids(queue.claim(10, 30s)), ElementsAre("a", "c"));

    const auto dead = letters.page({}, "", 10);
    ASSERT_THAT(dead, SizeIs(1));
    EXPECT_EQ(dead[0].jid, "b");
    EXPECT_THAT(dead[0].error, HasSubstr("PAWL0022"));
    EXPECT_THAT(dead[0].damaged.problem, ::testing::Not(IsEmpty()));
    clock.advance(1h);
    queue.rescue(30s);
    EXPECT_THAT(jids(queue.claim(10, 30s)), ElementsAre("a", "c"))
        << "the dead one does not return";
}

TEST_P(DamagedRowsTest, a_job_with_an_invalid_time_blocks_no_query_for_the_others) {
    for (const auto* jid : {"a", "b"}) stage(sql::insert_job, jid);
    run(damage_run_at, "a");

    EXPECT_THAT(jids(queue.claim(10, 30s)), ElementsAre("b"));
    EXPECT_THAT(queue.claim(10, 30s), IsEmpty());
    EXPECT_EQ(queue.next_due(), std::nullopt);
    stage(sql::insert_job, "c");
    EXPECT_THAT(jids(queue.claim(10, 30s)), ElementsAre("c"));
}

TEST_P(DamagedRowsTest, a_due_job_with_an_invalid_time_is_dead_and_the_others_are_claimed) {
    if (is_postgres(GetParam())) GTEST_SKIP() << "its times up to now all decode";
    for (const auto* jid : {"a", "b"}) stage(sql::insert_job, jid);
    run(damage_due_run_at, "a");

    EXPECT_THAT(jids(queue.claim(10, 30s)), ElementsAre("b"));
    ASSERT_THAT(letters.page({}, "", 10), SizeIs(1));
    EXPECT_THAT(letters.page({}, "", 10)[0].error, HasSubstr("PAWL0022"));
}

TEST_P(DamagedRowsTest, a_damaged_staged_job_is_a_dead_letter_and_the_others_are_sent) {
    for (const auto* jid : {"a", "b", "c"}) stage(sql::insert_staged_job, jid);
    run(damage_staged, "b");
    Outside outside;
    ops::Enqueuer enqueuer{*store, clock, &outside, {}};

    const auto report = enqueuer.run_once();

    EXPECT_THAT(outside.arrived, ElementsAre("a", "c"));
    EXPECT_EQ(report.sent, 2);
    EXPECT_EQ(report.refused, 1);
    ASSERT_THAT(letters.page({}, "", 10), SizeIs(1));
    EXPECT_THAT(letters.page({}, "", 10)[0].error, HasSubstr("PAWL0022"));
}

TEST_P(DamagedRowsTest, a_damaged_dead_letter_is_listed_and_can_be_purged) {
    for (const auto* jid : {"a", "b"}) {
        stage(sql::insert_job, jid);
        queue.dead_letter(queue.claim(1, 30s).at(0), "no such mailbox");
    }
    run(damage_dead, "a");

    const auto dead = letters.page({}, "", 10);

    ASSERT_THAT(dead, SizeIs(2));
    EXPECT_THAT(dead[0].damaged.columns, SizeIs(1));
    EXPECT_THAT(dead[1].damaged.columns, IsEmpty());
    EXPECT_THAT(letters.groups({}), SizeIs(1));
    EXPECT_EQ(letters.purge(Texts{dead[0].id}, {"ann", "damaged"}).done, 1);
}

// Issue 38, number 5: `dlq merge --all` merged no job of its batch.
TEST_P(DamagedRowsTest, a_dead_letter_with_a_damaged_history_is_merged_with_the_others) {
    for (const auto* jid : {"a", "b"}) {
        stage(sql::insert_job, jid);
        queue.dead_letter(queue.claim(1, 30s).at(0), "no such mailbox");
    }
    run(damage_history, "a");
    Texts ids;
    for (const auto& letter : letters.page({}, "", 10)) ids.push_back(letter.id);

    EXPECT_EQ(letters.merge(ids, {"ann", "it is back"}, std::nullopt).done, 2);

    EXPECT_THAT(queue.claim(10, 30s), SizeIs(2));
}

TEST_P(DamagedRowsTest, the_reaper_skips_a_damaged_key_and_removes_the_others) {
    std::vector<std::int64_t> ids;
    for (const auto* hash : {"a", "b", "c"}) {
        ids.push_back(open_key(hash));
        finish(ids.back(), 1, "ride_created", now());
    }
    run(damage_status, ids[0]);
    const bool damaged = !is_postgres(GetParam());

    // In batches of one, so that it comes before the others.
    const auto report = ops::Reaper{*store, clock, {.batch_max = 1}}.run_once(now());
    const auto next = ops::Reaper{*store, clock, {}}.run_once(now());

    EXPECT_EQ(report.not_removed, damaged ? 1 : 0);
    EXPECT_EQ(report.reaped + next.reaped, damaged ? 2 : 3);
}

}  // namespace pawl::conformance
