#pragma once

#include "src/core/queue_limits.hpp"
#include "src/queue/dead_letters.hpp"
#include "src/queue/jobs.hpp"
#include "src/queue/queue.hpp"
#include "tests/conformance/store_world.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace pawl::conformance {

// Entries of the audit by ann: $1 the action, $2 a pattern of the detail.
inline constexpr Sql audits_of = on_all(
    "count_audits_of",
    "SELECT count(*) FROM pawl_audit_log WHERE action = $1 AND actor = 'ann' AND detail LIKE $2"
);

// A queue under test, and what the suite does to it from outside. Each kind of queue derives its
// own class, and registers it by PAWL_ON_QUEUES in its own file.
class QueueWorld {
public:
    struct Job {
        std::string jid{"jid"};
        std::chrono::milliseconds due_in{0};
        std::string queue{"default"};
        std::string kind{"send_receipt"};
        std::string args{R"({"ride":1})"};
        std::int64_t key_id{7};
    };

    virtual ~QueueWorld() = default;

    // Where handlers write, with Pawl's tables and `notes`; for the embedded queue its own store.
    virtual store::Store& store() = 0;
    virtual std::unique_ptr<queue::Queue> open(const std::string& name) = 0;
    // The queue "default" with limits; nullptr: it has none over all servers.
    virtual std::unique_ptr<queue::Queue> open_limited(const core::QueueLimits&) { return nullptr; }
    virtual std::unique_ptr<queue::DeadLetters> open_dead_letters() = 0;
    // nullptr: single jobs can't be listed and changed.
    virtual std::unique_ptr<queue::Jobs> open_jobs() { return nullptr; }
    // Adds a job as the enqueuer or a phase would; created now.
    virtual void stage(const Job& job) = 0;
    // The precision of times: a queue that keeps floating seconds rounds.
    virtual std::chrono::milliseconds exactness() const { return std::chrono::milliseconds{0}; }
    // Whether it counts the servers that died while they had a job (docs/adr/0044).
    virtual bool counts_deaths() const { return true; }

    HandClock clock;
};

struct QueueKind {
    std::string name;
    std::function<std::unique_ptr<QueueWorld>()> make;
};
inline void PrintTo(const QueueKind& kind, std::ostream* out) {
    *out << kind.name;
}

class OnEachQueue : public ::testing::TestWithParam<QueueKind> {
protected:
    void stage(const QueueWorld::Job& job) { world->stage(job); }
    void stage(const std::string& jid, std::chrono::milliseconds due_in = 0s) {
        world->stage({.jid = jid, .due_in = due_in});
    }
    queue::ClaimedJob take_one() { return queue->claim(1, 30s).at(0); }
    // In order.
    static std::vector<std::string> jids(const std::vector<queue::ClaimedJob>& jobs) {
        std::vector<std::string> found;
        for (const auto& job : jobs) found.push_back(job.raw.jid);
        return found;
    }
    static std::vector<std::string> sorted_jids(const std::vector<queue::ClaimedJob>& jobs) {
        auto found = jids(jobs);
        std::sort(found.begin(), found.end());
        return found;
    }
    std::int64_t note_count() {
        return read_rows<std::int64_t>(world->store(), notes::count).at(0);
    }
    bool about(const std::optional<TimePoint>& one, TimePoint other) {
        return one && std::chrono::abs(*one - other) <= world->exactness();
    }

    std::unique_ptr<QueueWorld> world = GetParam().make();
    std::unique_ptr<queue::Queue> queue = world->open("default");
    std::unique_ptr<queue::DeadLetters> letters = world->open_dead_letters();
    HandClock& clock = world->clock;
};

class QueueTest : public OnEachQueue {};
class QueueLeaseTest : public OnEachQueue {};  // For queues with leases.
class LimitedQueueTest : public OnEachQueue {  // For queues with limits over all servers.
protected:
    void stage_some(int jobs) {
        for (int i = 0; i < jobs; ++i) stage("jid-" + std::to_string(i));
    }
};
class DeadLettersTest : public OnEachQueue {
protected:
    struct Made {
        std::string queue{"default"};
        std::string kind{"send_receipt"};
        std::string args{R"({"ride":1})"};
        std::string error{"SMTP 550: no such mailbox 'ann'"};
        bool called{false};
    };
    // A job that failed once, and then for good.
    std::string dead_letter(const std::string& jid, const Made& made) {
        stage({.jid = jid, .queue = made.queue, .kind = made.kind, .args = made.args});
        auto of_another = made.queue == "default" ? nullptr : world->open(made.queue);
        auto& of_it = of_another ? *of_another : *queue;
        auto job = of_it.claim(1, 30s).at(0);
        if (made.called) of_it.mark_called(job);
        EXPECT_TRUE(of_it.reschedule(job, 0s, "the first error"));
        job = of_it.claim(1, 30s).at(0);
        EXPECT_TRUE(of_it.dead_letter(job, made.error));
        return id_of(jid);
    }
    std::string dead_letter(const std::string& jid) { return dead_letter(jid, Made{}); }
    std::string id_of(const std::string& jid) {
        for (const auto& letter : letters->page({}, "", 1'000))
            if (letter.jid == jid) return letter.id;
        return "none";
    }
    std::vector<std::string> dead_jids(const queue::DeadLetterFilter& filter = {}) {
        std::vector<std::string> found;
        for (const auto& letter : letters->page(filter, "", 1'000)) found.push_back(letter.jid);
        return found;
    }
    std::vector<std::string> jids_to_work() { return jids(queue->claim(100, 30s)); }

    const queue::AuditEntry act{"ann", "the mail server is back"};
};
class JobsTest : public OnEachQueue {  // For queues whose jobs people can list and change.
protected:
    // Of all that the filter selects, in the order of their ids.
    std::vector<std::string> listed(const queue::JobFilter& filter = {}) {
        std::vector<std::string> found;
        for (const auto& job : jobs->page(filter, "", 1'000)) found.push_back(job.jid);
        return found;
    }
    std::string id_of(const std::string& jid) {
        for (const auto& job : jobs->page({}, "", 1'000))
            if (job.jid == jid) return job.id;
        return "none";
    }
    // A job that was claimed and failed.
    void stage_failed(const std::string& jid, std::chrono::milliseconds wait) {
        stage(jid);
        EXPECT_TRUE(queue->reschedule(take_one(), wait, "no such mailbox"));
    }
    // One job in each state, named by it.
    void stage_each_state() {
        stage_failed("retrying", 1h);
        stage("running");
        take_one();
        stage("due");
        stage("later", 1min);
    }
    std::int64_t audits(const std::string& action) {
        const std::string why{"%a wrong address%"};
        return read_rows<std::int64_t>(world->store(), audits_of, action, why).at(0);
    }

    std::unique_ptr<queue::Jobs> jobs = world->open_jobs();
    const queue::AuditEntry act{"ann", "a wrong address"};
};

}  // namespace pawl::conformance

// Runs the suites on these kinds of queue (a vector of QueueKind); `With` names the instantiation.
#define PAWL_ON_QUEUES(With, kinds)                                                            \
    INSTANTIATE_TEST_SUITE_P(With, QueueTest, ::testing::ValuesIn(kinds), [](const auto& of) { \
        return of.param.name;                                                                  \
    });                                                                                        \
    INSTANTIATE_TEST_SUITE_P(                                                                  \
        With,                                                                                  \
        DeadLettersTest,                                                                       \
        ::testing::ValuesIn(kinds),                                                            \
        [](const auto& of) { return of.param.name; }                                           \
    )
#define PAWL_ON_QUEUES_WITH_LIMITS(With, kinds)      \
    PAWL_ON_QUEUES_WITH_LEASES(With, kinds);         \
    INSTANTIATE_TEST_SUITE_P(                        \
        With,                                        \
        LimitedQueueTest,                            \
        ::testing::ValuesIn(kinds),                  \
        [](const auto& of) { return of.param.name; } \
    )
#define PAWL_ON_QUEUES_WITH_JOBS(With, kinds)                                                 \
    INSTANTIATE_TEST_SUITE_P(With, JobsTest, ::testing::ValuesIn(kinds), [](const auto& of) { \
        return of.param.name;                                                                 \
    })
#define PAWL_ON_QUEUES_WITH_LEASES(With, kinds)      \
    PAWL_ON_QUEUES(With, kinds);                     \
    INSTANTIATE_TEST_SUITE_P(                        \
        With,                                        \
        QueueLeaseTest,                              \
        ::testing::ValuesIn(kinds),                  \
        [](const auto& of) { return of.param.name; } \
    )
