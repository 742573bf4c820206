#include "src/ops/dead_letters.hpp"

#include "src/base/error_text.hpp"
#include "src/base/random.hpp"
#include "tests/conformance/queue_world.hpp"

#include <gmock/gmock.h>

// What a queue does with jobs that are no longer tried.
namespace pawl::conformance {

namespace {

using queue::DeadLetterFilter;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Texts = std::vector<std::string>;

constexpr Sql audits = on_all("count_audits", "SELECT count(*) FROM pawl_audit_log");

}  // namespace

TEST_P(DeadLettersTest, a_dead_letter_has_all_details_of_its_job) {
    const auto id = dead_letter("jid", {.called = true});

    const auto letter = letters->find(id);

    ASSERT_TRUE(letter);
    EXPECT_EQ(letter->jid, "jid");
    EXPECT_EQ(letter->queue, "default");
    EXPECT_EQ(letter->kind, "send_receipt");
    EXPECT_EQ(letter->args, R"({"ride":1})");
    EXPECT_EQ(letter->failures, 2);
    EXPECT_EQ(letter->error, "SMTP 550: no such mailbox 'ann'");
    EXPECT_EQ(letter->error_kind, "SMTP 550: no such mailbox \"?\"");
    EXPECT_EQ(letter->called_at, clock.now());
    EXPECT_EQ(letter->key_id, 7);
    EXPECT_EQ(letter->died_at, clock.now());
    EXPECT_EQ(letter->first_failed_at, clock.now());
    EXPECT_THAT(letter->history, HasSubstr("the first error"));
    EXPECT_THAT(letter->history, HasSubstr("no such mailbox"));
    EXPECT_FALSE(letters->find("no number"));
    EXPECT_FALSE(letters->find("4711"));
}

TEST_P(DeadLettersTest, a_job_is_buried_whatever_its_exception_says) {
    dead_letter("binary", {.args = "not json \xC3\xBC", .error = std::string{"\xFF\x00\xC3", 3}});

    const auto letter = letters->page({}, "", 10).at(0);

    EXPECT_EQ(letter.error, "???");
    EXPECT_EQ(letter.args, "not json \xC3\xBC");
}

TEST_P(DeadLettersTest, a_long_history_keeps_the_first_and_the_latest_entries) {
    stage("jid");
    for (int i = 1; i <= 40; ++i)
        EXPECT_TRUE(queue->reschedule(queue->claim(1, 30s).at(0), 0s, "e" + std::to_string(i)));
    EXPECT_TRUE(queue->dead_letter(queue->claim(1, 30s).at(0), "e41"));

    const auto history = letters->page({}, "", 1).at(0).history;

    EXPECT_THAT(history, HasSubstr("\"e1\""));
    EXPECT_THAT(history, ::testing::Not(HasSubstr("\"e21\"")));
    for (const auto* stays : {"\"e22\"", "\"e41\""}) EXPECT_THAT(history, HasSubstr(stays));
}

TEST_P(DeadLettersTest, a_filter_selects_matching_letters) {
    dead_letter("a", {.kind = "k1", .error = "SMTP 550"});
    clock.advance(1h);
    dead_letter("b", {.queue = "mails", .error = "ride 17 is away"});
    clock.advance(1h);
    dead_letter("c", {.kind = "k1", .error = "ride 18 is away"});
    const auto now = clock.now();

    EXPECT_THAT(dead_jids(), ElementsAre("a", "b", "c"));
    EXPECT_THAT(dead_jids({.queue = "mails"}), ElementsAre("b"));
    EXPECT_THAT(dead_jids({.kind = "k1"}), ElementsAre("a", "c"));
    EXPECT_THAT(dead_jids({.error_kind = "ride # is away"}), ElementsAre("b", "c"));
    EXPECT_THAT(dead_jids({.error = "17"}), ElementsAre("b"));
    EXPECT_THAT(dead_jids({.died_before = now - 1h}), ElementsAre("a"));
    EXPECT_THAT(dead_jids({.died_since = now - 1h}), ElementsAre("b", "c"));
    EXPECT_THAT(dead_jids({.failures_min = 3}), IsEmpty());
    EXPECT_THAT(dead_jids({.kind = "k1", .error = "away"}), ElementsAre("c"));
    EXPECT_THAT(dead_jids({.error = "'; DROP TABLE pawl_dead_jobs; --"}), IsEmpty());
}

TEST_P(DeadLettersTest, pages_follow_each_other_without_gap) {
    for (const auto* jid : {"a", "b", "c", "d", "e"}) dead_letter(jid);

    const auto first = letters->page({}, "", 2);
    const auto second = letters->page({}, first.back().id, 2);
    const auto third = letters->page({}, second.back().id, 2);

    EXPECT_EQ(first[0].jid + first[1].jid + second[0].jid + second[1].jid, "abcd");
    EXPECT_EQ(third.size(), 1);
}

TEST_P(DeadLettersTest, errors_of_one_kind_are_one_group) {
    dead_letter("a", {.error = "ride 17 is away"});
    clock.advance(1h);
    dead_letter("b", {.error = "ride 18 is away"});
    dead_letter("c", {.error = "SMTP 550"});

    const auto groups = letters->groups({});

    ASSERT_EQ(groups.size(), 2);
    EXPECT_EQ(groups[0].error_kind, "ride # is away");
    EXPECT_EQ(groups[0].count, 2);
    EXPECT_EQ(groups[0].first_died_at, clock.now() - 1h);
    EXPECT_EQ(groups[0].last_died_at, clock.now());
    EXPECT_EQ(groups[0].sample, id_of("b"));
    EXPECT_EQ(groups[1].count, 1);
}

TEST_P(DeadLettersTest, a_merged_job_runs_again_under_its_id_with_all_its_tries) {
    const auto id = dead_letter("jid");

    const auto done = letters->merge(Texts{id}, act, clock.now());

    EXPECT_EQ(done.done, 1);
    EXPECT_THAT(dead_jids(), IsEmpty());
    const auto job = queue->claim(10, 30s).at(0);
    EXPECT_EQ(job.raw.jid, "jid");
    EXPECT_EQ(job.failures, 0);
    EXPECT_EQ(job.raw.attempt, 1);
    EXPECT_EQ(job.raw.key_id, 7);
    EXPECT_TRUE(job.raw.first_failed_at);
    EXPECT_EQ(job.raw.last_error, "SMTP 550: no such mailbox 'ann'");
}

TEST_P(DeadLettersTest, a_job_merged_twice_is_there_once_and_never_again_when_done) {
    const auto id = dead_letter("jid");
    EXPECT_EQ(letters->merge(Texts{id, id}, act, clock.now()).done, 1);

    EXPECT_EQ(letters->merge(Texts{id}, act, clock.now()).gone, 1);
    EXPECT_TRUE(queue->finish(queue->claim(10, 30s).at(0)));
    EXPECT_EQ(letters->merge(Texts{id}, act, clock.now()).gone, 1);

    EXPECT_THAT(jids_to_work(), IsEmpty());
}

// A worker's fence is the claim number, which must not repeat.
TEST_P(DeadLettersTest, an_old_worker_of_a_merged_job_writes_nothing) {
    stage("jid");
    const auto old = queue->claim(1, 30s).at(0);
    clock.advance(1min);
    EXPECT_EQ(queue->rescue(30s), 1);
    EXPECT_TRUE(queue->dead_letter(queue->claim(1, 30s).at(0), "e"));
    letters->merge(Texts{id_of("jid")}, act, clock.now());
    const auto mine = queue->claim(1, 30s).at(0);

    EXPECT_FALSE(queue->finish(old));
    EXPECT_FALSE(queue->dead_letter(old, "late"));
    EXPECT_TRUE(queue->finish(mine));
}

TEST_P(DeadLettersTest, a_call_that_may_be_forgotten_is_not_repeated_by_default) {
    const auto id = dead_letter("jid", {.called = true});
    const auto other = dead_letter("other");
    clock.advance(21h);

    const auto done = letters->merge(Texts{id, other}, act, clock.now() - 20h);
    EXPECT_EQ(done.done, 1);
    EXPECT_EQ(done.forgotten, 1);
    EXPECT_THAT(dead_jids(), ElementsAre("jid"));

    EXPECT_EQ(letters->merge(Texts{id}, act, std::nullopt).done, 1);
    for (const auto& job : queue->claim(10, 30s)) EXPECT_FALSE(job.called_at) << job.raw.jid;
}

TEST_P(DeadLettersTest, a_purged_letter_is_gone) {
    const auto id = dead_letter("a");
    dead_letter("b");

    EXPECT_EQ(letters->purge(Texts{id, "4711", "no number"}, act).done, 1);
    EXPECT_EQ(letters->purge(Texts{id}, act).gone, 1);

    EXPECT_THAT(dead_jids(), ElementsAre("b"));
    EXPECT_THAT(jids_to_work(), IsEmpty());
}

TEST_P(DeadLettersTest, the_audit_and_the_history_name_the_operator_and_the_reason) {
    letters->purge(Texts{dead_letter("a")}, act);
    letters->merge(Texts{dead_letter("b")}, act, clock.now());
    letters->merge(Texts{"4711"}, act, clock.now());  // Nothing was done: no audit entry.

    auto& store = world->store();
    EXPECT_EQ(read_rows<std::int64_t>(store, audits_of, "purge", "%").at(0), 1);
    EXPECT_EQ(
        read_rows<std::int64_t>(store, audits_of, "merge", "%the mail server is back%").at(0), 1
    );
    EXPECT_EQ(read_rows<std::int64_t>(store, audits).at(0), 2);
    EXPECT_TRUE(queue->dead_letter(queue->claim(1, 30s).at(0), "again"));
    EXPECT_THAT(letters->page({}, "", 1).at(0).history, HasSubstr("\"ann\""));
}

TEST_P(DeadLettersTest, many_are_worked_in_batches) {
    constexpr int jobs = 2 * ops::dead_letter_batch + 1;
    for (int i = 0; i < jobs; ++i) stage("j" + std::to_string(i));
    for (const auto& job : queue->claim(jobs, 30s)) EXPECT_TRUE(queue->dead_letter(job, "e"));
    std::vector<std::int64_t> told;

    const auto report = ops::merge_dead_letters(
        *letters,
        {},
        act,
        clock.now(),
        base::system_random(),
        [&](const ops::DeadLetterReport& so_far) {
            told.push_back(so_far.done);
            return told.size() < 2;
        }
    );

    EXPECT_EQ(
        told, (std::vector<std::int64_t>{ops::dead_letter_batch, 2 * ops::dead_letter_batch})
    );
    EXPECT_EQ(report.done, 2 * ops::dead_letter_batch);  // Stopped there,
    const auto rest =
        ops::merge_dead_letters(*letters, {}, act, clock.now(), base::system_random(), {});
    EXPECT_EQ(rest.done, 1);  // and repeated.
    EXPECT_EQ(queue->claim(2 * jobs, 30s).size(), jobs);
}

TEST_P(DeadLettersTest, a_sample_is_taken_of_the_selected_letters) {
    for (int i = 0; i < 20; ++i)
        dead_letter("a" + std::to_string(i), {.kind = i < 10 ? "k1" : "k2"});

    const auto report =
        ops::purge_dead_letters(*letters, {{}, {.kind = "k1"}, 4}, act, base::system_random(), {});

    EXPECT_EQ(report.done, 4);
    EXPECT_EQ(dead_jids({.kind = "k1"}).size(), 6);
    EXPECT_EQ(dead_jids({.kind = "k2"}).size(), 10);
}

}  // namespace pawl::conformance
