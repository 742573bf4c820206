#include "src/ops/job_choice.hpp"
#include "tests/conformance/queue_world.hpp"

#include <gmock/gmock.h>

#include <span>
#include <string>
#include <vector>

// What people see and change of the jobs of a queue.
namespace pawl::conformance {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using Texts = std::vector<std::string>;

}  // namespace

TEST_P(JobsTest, a_job_is_shown_with_all_that_is_known_of_it) {
    stage("jid");
    auto job = take_one();
    EXPECT_TRUE(queue->mark_called(job));
    EXPECT_TRUE(queue->reschedule(job, 10s, "no answer"));

    const auto shown = jobs->find(id_of("jid"));

    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->state, "retrying");
    EXPECT_EQ(shown->jid, "jid");
    EXPECT_EQ(shown->queue, "default");
    EXPECT_EQ(shown->kind, "send_receipt");
    EXPECT_EQ(shown->args, R"({"ride":1})");
    EXPECT_EQ(shown->tries, 1);
    EXPECT_EQ(shown->failures, 1);
    EXPECT_EQ(shown->run_at, clock.now() + 10s);
    EXPECT_EQ(shown->lease_until, std::nullopt);
    EXPECT_EQ(shown->called_at, clock.now());
    EXPECT_EQ(shown->key_id, 7);
    EXPECT_EQ(shown->created_at, clock.now());
    EXPECT_EQ(shown->first_failed_at, clock.now());
    EXPECT_EQ(shown->last_failed_at, clock.now());
    EXPECT_EQ(shown->error, "no answer");
    EXPECT_THAT(shown->history, HasSubstr("no answer"));
    EXPECT_EQ(shown->damaged.problem, "");
    for (const auto* other : {"4711", "0", "-1", "no number", ""}) EXPECT_FALSE(jobs->find(other));
}

TEST_P(JobsTest, a_running_job_is_shown_with_its_try_and_its_lease) {
    stage("jid");
    take_one();

    const auto shown = jobs->find(id_of("jid"));

    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->state, "running");
    EXPECT_EQ(shown->tries, 1);
    EXPECT_EQ(shown->failures, 0);
    EXPECT_EQ(shown->lease_until, clock.now() + 30s);
    EXPECT_EQ(shown->error, std::nullopt);
}

TEST_P(JobsTest, a_job_is_shown_with_the_deaths_of_its_servers) {
    stage("jid");
    EXPECT_EQ(jobs->find(id_of("jid"))->deaths, 0);
    take_one();
    clock.advance(30s);

    EXPECT_EQ(queue->rescue(60s), 1);

    EXPECT_EQ(jobs->find(id_of("jid"))->deaths, 1);
    EXPECT_TRUE(queue->dead_letter(take_one(), "for good"));
    const auto letter = letters->page({}, "", 10).at(0);
    letters->merge(std::vector{letter.id}, {"ann", "it is fixed"}, std::nullopt);
    EXPECT_EQ(jobs->find(id_of("jid"))->deaths, 0) << "a merge begins anew";
}

TEST_P(JobsTest, jobs_are_found_by_what_is_known_of_them) {
    stage_each_state();
    clock.advance(10s);
    stage(
        {.jid = "mail",
         .due_in = 1h,
         .queue = "mails",
         .kind = "send_mail",
         .args = R"({"ride":1})",
         .key_id = 8}
    );

    EXPECT_THAT(listed(), UnorderedElementsAre("retrying", "running", "due", "later", "mail"));
    for (const auto* state : {"retrying", "running", "due"})
        EXPECT_THAT(listed({.state = state}), ElementsAre(state));
    EXPECT_THAT(listed({.state = "later"}), UnorderedElementsAre("later", "mail"));
    EXPECT_THAT(listed({.queue = "mails"}), ElementsAre("mail"));
    EXPECT_THAT(listed({.kind = "send_mail"}), ElementsAre("mail"));
    EXPECT_THAT(listed({.error = "such mail"}), ElementsAre("retrying"));
    EXPECT_THAT(listed({.created_before = clock.now(), .key_id = 8}), IsEmpty());
    EXPECT_THAT(listed({.created_since = clock.now()}), ElementsAre("mail"));
    EXPECT_THAT(listed({.key_id = 8}), ElementsAre("mail"));
    clock.advance(1min);
    EXPECT_THAT(listed({.state = "due"}), UnorderedElementsAre("due", "later"));
}

TEST_P(JobsTest, pages_follow_each_other_although_their_jobs_move) {
    for (const auto* jid : {"a", "b", "c", "d", "e"}) stage(jid);

    const auto first = jobs->page({}, "", 2);
    take_one();
    stage("f", 1h);
    const auto second = jobs->page({}, first.back().id, 2);
    EXPECT_TRUE(queue->reschedule(take_one(), 1h, "an error"));
    const auto third = jobs->page({}, second.back().id, 3);

    ASSERT_THAT(first, SizeIs(2));
    ASSERT_THAT(second, SizeIs(2));
    EXPECT_EQ(first[0].jid + first[1].jid + second[0].jid + second[1].jid, "abcd");
    ASSERT_THAT(third, SizeIs(2));
    EXPECT_EQ(third[0].jid + third[1].jid, "ef");
    EXPECT_THAT(jobs->page({}, third.back().id, 3), IsEmpty());
}

TEST_P(JobsTest, jobs_of_named_queues_and_of_retry_layers_are_seen_and_cancelled) {
    const auto mails = world->open("mails");
    for (const auto* jid : {"failed", "running", "due"})
        world->stage({.jid = jid, .queue = "mails"});
    EXPECT_TRUE(mails->reschedule(mails->claim(1, 30s).at(0), 1s, "an error"));
    const auto held = mails->claim(1, 30s).at(0);
    clock.advance(2s);
    // The claim moves the retry to its layer, whose jobs it does not get.
    EXPECT_THAT(mails->claim(0, 30s, {.failures_max = 0}), IsEmpty());
    EXPECT_THAT(listed({.queue = "mails", .state = "due"}), UnorderedElementsAre("failed", "due"));

    const auto done = jobs->cancel(Texts{id_of("failed"), id_of(held.raw.jid), id_of("due")}, act);

    EXPECT_EQ(done.cancelled, 3);
    EXPECT_EQ(done.running, 1);
    EXPECT_THAT(listed(), IsEmpty());
    EXPECT_THAT(mails->claim(10, 30s), IsEmpty());
    EXPECT_THAT(letters->page({.queue = "mails"}, "", 10), SizeIs(3));
}

TEST_P(JobsTest, a_cancelled_job_is_a_dead_letter_and_can_be_brought_back) {
    stage_each_state();

    const auto done = jobs->cancel(
        Texts{id_of("due"), id_of("later"), id_of("retrying"), "4711", "no number"}, act
    );

    EXPECT_EQ(done.cancelled, 3);
    EXPECT_EQ(done.running, 0);
    EXPECT_EQ(done.gone, 2);
    EXPECT_THAT(listed(), ElementsAre("running"));
    const auto dead = letters->page({.error_kind = "cancelled"}, "", 10);
    ASSERT_THAT(dead, SizeIs(3));
    EXPECT_EQ(audits("cancel"), 1);
    for (const auto& letter : dead) {
        EXPECT_EQ(letter.failures, letter.jid == "retrying" ? 1 : 0) << "no more than before";
        EXPECT_EQ(letter.first_failed_at.has_value(), letter.jid == "retrying");
        EXPECT_EQ(letter.error, "cancelled by ann: a wrong address");
        EXPECT_LE(letter.died_at - clock.now(), 1ms);
        EXPECT_THAT(letter.history, HasSubstr(R"("cancelled_by")"));
        EXPECT_THAT(letter.history, HasSubstr(R"("ann")"));
        EXPECT_EQ(letters->merge(Texts{letter.id}, act, std::nullopt).done, 1);
    }
    EXPECT_THAT(sorted_jids(queue->claim(10, 30s)), ElementsAre("due", "later", "retrying"));
    EXPECT_EQ(jobs->cancel(Texts{"4711"}, act).gone, 1);
    EXPECT_EQ(audits("cancel"), 1) << "no entry for no job";
}

TEST_P(JobsTest, a_worker_has_lost_a_job_that_was_cancelled) {
    stage("kept");
    stage("cancelled");
    auto held = queue->claim(2, 30s);
    EXPECT_TRUE(queue->mark_called(held[1])) << "a worker's own change hides no job";
    EXPECT_EQ(queue->still_held(held), (std::vector<bool>{true, true}));

    const auto done = jobs->cancel(Texts{id_of("cancelled")}, act);

    EXPECT_EQ(done.cancelled, 1);
    EXPECT_EQ(done.running, 1);
    EXPECT_EQ(queue->still_held(held), (std::vector<bool>{true, false}));
    EXPECT_FALSE(queue->mark_called(held[1]));
    EXPECT_FALSE(queue->renew(held[1], 30s));
    EXPECT_FALSE(queue->reschedule(held[1], 0s, "late"));
    EXPECT_FALSE(queue->dead_letter(held[1], "late"));
    EXPECT_FALSE(queue->finish(held[1]));
    EXPECT_TRUE(queue->finish(held[0]));
    const auto dead = letters->page({}, "", 10);
    ASSERT_THAT(dead, SizeIs(1));
    EXPECT_EQ(dead[0].called_at, clock.now());
    EXPECT_EQ(queue->rescue(30s), 0);
    EXPECT_THAT(listed(), IsEmpty());
}

TEST_P(JobsTest, a_cancelled_job_frees_its_place_in_a_limited_queue) {
    const auto limited = world->open_limited({.running_max = 1});
    stage("a");
    stage("b");
    const auto held = limited->claim(2, 30s);
    ASSERT_THAT(held, SizeIs(1));
    EXPECT_THAT(limited->claim(2, 30s), IsEmpty());

    EXPECT_EQ(jobs->cancel(Texts{id_of(held[0].raw.jid)}, act).running, 1);

    EXPECT_THAT(limited->claim(2, 30s), SizeIs(1));
}

TEST_P(JobsTest, jobs_that_wait_are_due_at_once_when_a_person_says_so) {
    stage_each_state();
    EXPECT_THAT(queue->claim(10, 30s), SizeIs(1)) << "only the one that is due";

    const auto done =
        jobs->retry_now(Texts{id_of("retrying"), id_of("later"), id_of("running"), "4711"}, act);

    EXPECT_EQ(done.due, 2);
    EXPECT_EQ(done.left, 2);
    EXPECT_THAT(listed({.state = "due"}), UnorderedElementsAre("later", "retrying"));
    const auto again = jobs->retry_now(Texts{id_of("retrying"), id_of("later")}, act);
    EXPECT_EQ(again.due, 0) << "due before";
    EXPECT_EQ(audits("retry"), 1);
    const auto claimed = queue->claim(10, 30s);
    EXPECT_THAT(sorted_jids(claimed), ElementsAre("later", "retrying"));
    for (const auto& job : claimed) EXPECT_EQ(job.failures, job.raw.jid == "retrying" ? 1 : 0);
}

TEST_P(JobsTest, a_filter_chooses_each_job_once_in_batches) {
    constexpr int count = ops::job_batch + 1;
    for (int i = 0; i < count; ++i) world->stage({.jid = "j" + std::to_string(i), .due_in = 1h});
    world->stage({.jid = "other", .due_in = 1h, .kind = "other"});
    std::vector<std::ptrdiff_t> batches;
    int due = 0;
    int cancelled = 0;
    const ops::JobChoice choice{{}, {.kind = "send_receipt"}};

    ops::each_job_batch(*jobs, choice, clock.now(), [&](std::span<const std::string> ids) {
        batches.push_back(std::ssize(ids));
        due += jobs->retry_now(ids, act).due;
    });
    ops::each_job_batch(*jobs, choice, clock.now(), [&](std::span<const std::string> ids) {
        cancelled += jobs->cancel(ids, act).cancelled;
    });

    EXPECT_THAT(batches, ElementsAre(ops::job_batch, 1));
    EXPECT_EQ(due, count);
    EXPECT_EQ(cancelled, count);
    EXPECT_EQ(audits("cancel"), 2);
    EXPECT_THAT(listed(), ElementsAre("other"));
    EXPECT_THAT(letters->page({}, "", 2 * count), SizeIs(count));
}

}  // namespace pawl::conformance
