#include "src/queue/embedded/embedded_jobs.hpp"

#include "src/queue/embedded/embedded_dead_letters.hpp"
#include "src/queue/embedded/embedded_queue.hpp"
#include "tests/conformance/each_store.hpp"
#include "tests/conformance/queue_world.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

// What people see and change of the jobs in the database, on each store.
namespace pawl::conformance {

namespace {

using queue::JobFilter;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Texts = std::vector<std::string>;

class EmbeddedJobsTest : public OnEachStore {
protected:
    struct Made {
        std::string queue{"default"};
        std::string kind{"send_receipt"};
        std::chrono::milliseconds due_in{0};
        std::int64_t key_id{7};
    };
    // The id of the new job.
    std::string stage(const std::string& jid, const Made& made) {
        write_one(
            *store,
            sql::insert_job,
            jid,
            made.queue,
            made.kind,
            std::string{R"({"ride":1})"},
            clock.now() + made.due_in,
            std::optional{made.key_id},
            clock.now()
        );
        return id_of(jid);
    }
    std::string stage(const std::string& jid) { return stage(jid, Made{}); }
    std::string id_of(const std::string& jid) {
        for (const auto& job : jobs.page({}, "", 1'000))
            if (job.jid == jid) return job.id;
        return "none";
    }
    Texts jids(const JobFilter& filter = {}) {
        Texts found;
        for (const auto& job : jobs.page(filter, "", 1'000)) found.push_back(job.jid);
        return found;
    }
    // One job in each state, named by it; all others are later.
    void stage_each_state() {
        stage("retrying");
        stage("running");
        for (const auto& job : queue.claim(2, 30s))
            if (job.raw.jid == "retrying") {
                EXPECT_TRUE(queue.reschedule(job, 1h, "no such mailbox"));
            }
        stage("due");
        stage("later", {.due_in = 1min});
    }

    queue::EmbeddedQueue queue{*store};
    queue::EmbeddedJobs jobs{*store};
    queue::EmbeddedDeadLetters letters{*store};
    const queue::AuditEntry act{"ann", "a wrong address"};
};
PAWL_ON_EACH_STORE(EmbeddedJobsTest);

}  // namespace

TEST_P(EmbeddedJobsTest, a_job_is_shown_with_all_that_is_known_of_it) {
    stage("jid");
    auto job = queue.claim(1, 30s).at(0);
    EXPECT_TRUE(queue.mark_called(job));
    EXPECT_TRUE(queue.reschedule(job, 10s, "no answer"));

    const auto shown = jobs.find(id_of("jid"));

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
    for (const auto* other : {"4711", "0", "-1", "no number"}) EXPECT_FALSE(jobs.find(other));
}

TEST_P(EmbeddedJobsTest, jobs_are_found_by_what_is_known_of_them) {
    stage_each_state();
    clock.advance(10s);
    stage("mail", {.queue = "mails", .kind = "send_mail", .due_in = 1h, .key_id = 8});

    EXPECT_THAT(jids(), ElementsAre("retrying", "running", "due", "later", "mail"));
    for (const auto* state : {"retrying", "running", "due"})
        EXPECT_THAT(jids({.state = state}), ElementsAre(state));
    EXPECT_THAT(jids({.state = "later"}), ElementsAre("later", "mail"));
    EXPECT_THAT(jids({.queue = "mails"}), ElementsAre("mail"));
    EXPECT_THAT(jids({.kind = "send_mail"}), ElementsAre("mail"));
    EXPECT_THAT(jids({.error = "such mail"}), ElementsAre("retrying"));
    EXPECT_THAT(jids({.created_before = clock.now(), .key_id = 8}), IsEmpty());
    EXPECT_THAT(jids({.created_since = clock.now()}), ElementsAre("mail"));
    EXPECT_THAT(jids({.key_id = 8}), ElementsAre("mail"));
    EXPECT_EQ(jobs.page({}, id_of("running"), 1).at(0).jid, "due");
    clock.advance(1min);
    EXPECT_THAT(jids({.state = "due"}), ElementsAre("due", "later"));
}

TEST_P(EmbeddedJobsTest, a_cancelled_job_is_a_dead_letter_and_can_be_brought_back) {
    stage_each_state();

    const auto done = jobs.cancel(
        Texts{id_of("due"), id_of("later"), id_of("retrying"), "4711", "no number"}, act
    );

    EXPECT_EQ(done.cancelled, 3);
    EXPECT_EQ(done.running, 0);
    EXPECT_EQ(done.gone, 2);
    EXPECT_THAT(jids(), ElementsAre("running"));
    const auto dead = letters.page({.error_kind = "cancelled"}, "", 10);
    ASSERT_EQ(dead.size(), 3);
    EXPECT_EQ(dead[0].jid, "retrying");
    EXPECT_EQ(dead[0].failures, 1) << "no more than before";
    EXPECT_EQ(dead[0].error, "cancelled by ann: a wrong address");
    EXPECT_EQ(dead[0].died_at, clock.now());
    EXPECT_THAT(dead[0].history, HasSubstr("cancelled_by"));
    const std::string why{"%a wrong address%"};
    EXPECT_EQ(read_rows<std::int64_t>(*store, audits_of, std::string{"cancel"}, why).at(0), 1);

    EXPECT_EQ(letters.merge(Texts{dead[0].id}, act, std::nullopt).done, 1);
    EXPECT_EQ(queue.claim(10, 30s).at(0).raw.jid, "retrying");
}

TEST_P(EmbeddedJobsTest, a_worker_has_lost_a_job_that_was_cancelled) {
    stage("kept");
    stage("cancelled");
    auto held = queue.claim(2, 30s);
    EXPECT_EQ(queue.still_held(held), (std::vector<bool>{true, true}));

    const auto done = jobs.cancel(Texts{id_of("cancelled")}, act);

    EXPECT_EQ(done.cancelled, 1);
    EXPECT_EQ(done.running, 1);
    EXPECT_EQ(queue.still_held(held), (std::vector<bool>{true, false}));
    EXPECT_FALSE(queue.mark_called(held[1]));
    EXPECT_FALSE(queue.renew(held[1], 30s));
    EXPECT_FALSE(queue.reschedule(held[1], 0s, "late"));
    EXPECT_FALSE(queue.dead_letter(held[1], "late"));
    EXPECT_FALSE(queue.finish(held[1]));
    EXPECT_TRUE(queue.finish(held[0]));
    EXPECT_EQ(letters.page({}, "", 10).size(), 1);
}

TEST_P(EmbeddedJobsTest, jobs_that_wait_are_due_at_once_when_a_person_says_so) {
    stage_each_state();
    EXPECT_THAT(queue.claim(10, 30s), ::testing::SizeIs(1)) << "only the one that is due";

    const auto done =
        jobs.retry_now(Texts{id_of("retrying"), id_of("later"), id_of("running"), "4711"}, act);

    EXPECT_EQ(done.due, 2);
    EXPECT_EQ(done.left, 2);
    const auto claimed = queue.claim(10, 30s);
    ASSERT_EQ(claimed.size(), 2);
    EXPECT_EQ(claimed[0].raw.jid, "retrying");
    EXPECT_EQ(claimed[0].failures, 1);
    const std::string why{"%a wrong address%"};
    EXPECT_EQ(read_rows<std::int64_t>(*store, audits_of, std::string{"retry"}, why).at(0), 1);
}

}  // namespace pawl::conformance
