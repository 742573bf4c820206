#include "src/ops/enqueuer.hpp"
#include "src/queue/embedded/embedded_dead_letters.hpp"
#include "src/queue/embedded/embedded_jobs.hpp"
#include "src/queue/embedded/embedded_queue.hpp"
#include "tests/conformance/in_tx.hpp"

// A job goes on in the trace of the phase that staged it, wherever it goes in the database.
namespace pawl::conformance {

namespace {

struct Mail {
    static constexpr std::string_view kind = "mail";
    int ride{};
};

class Pushed final : public queue::Pusher {
public:
    queue::PushReport push(std::span<const queue::StagedJob> staged) override {
        queue::PushReport report;
        for (const auto& job : staged) {
            jobs.push_back(job);
            report.sent.push_back(job.id);
        }
        return report;
    }
    std::vector<queue::StagedJob> jobs;
};

class JobTracesTest : public InTx {
protected:
    void stage(
        const core::TraceContext* in,
        const StageOptions& options = {},
        engine::Staging where = engine::Staging::as_job
    ) {
        write_now(*store, [&](Session& session) {
            detail::TxContext context{
                .session = session, .random = base::system_random(), .staging = where};
            context.trace = in;
            detail::TxFactory::with_tx(context, [&](Tx& tx) { tx.stage(Mail{1}, options); });
        });
    }
    std::optional<core::TraceContext> claimed() {
        job = jobs.claim(1, 30s).at(0);
        return job.trace;
    }

    const std::optional<core::TraceContext> trace = core::TraceContext::from_headers(
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "a=1,b=2 3"
    );
    queue::EmbeddedQueue jobs{*store, "default"};
    queue::ClaimedJob job;
};
PAWL_ON_EACH_STORE(JobTracesTest);

}  // namespace

TEST_P(JobTracesTest, a_job_is_claimed_with_the_trace_of_its_phase) {
    stage(&*trace);

    EXPECT_EQ(claimed(), trace);
}

TEST_P(JobTracesTest, a_unique_job_too) {
    stage(&*trace, {.unique = "1"});

    EXPECT_EQ(claimed(), trace);
}

TEST_P(JobTracesTest, a_job_of_a_queue_with_limits_too) {
    stage(&*trace);
    queue::EmbeddedQueue limited{*store, "default", core::QueueLimits{.running_max = 5}};

    EXPECT_EQ(limited.claim(1, 30s).at(0).trace, trace);
}

TEST_P(JobTracesTest, a_job_without_a_trace_has_none) {
    stage(nullptr);

    EXPECT_FALSE(claimed());
}

TEST_P(JobTracesTest, a_failed_a_dead_and_a_merged_job_keep_their_trace) {
    stage(&*trace);
    claimed();
    jobs.reschedule(job, 0s, "an error");
    EXPECT_EQ(claimed(), trace);
    jobs.dead_letter(job, "for good");
    queue::EmbeddedDeadLetters letters{*store};
    const auto dead = letters.page({}, "", 1).at(0).id;

    letters.merge(std::vector{dead}, {"ann", "why"}, clock.now());

    EXPECT_EQ(claimed(), trace);
}

TEST_P(JobTracesTest, a_cancelled_job_keeps_its_trace) {
    stage(&*trace);
    queue::EmbeddedJobs listed{*store};
    listed.cancel(std::vector{listed.page({}, "", 1).at(0).id}, {"ann", "why"});
    queue::EmbeddedDeadLetters letters{*store};

    letters.merge(std::vector{letters.page({}, "", 1).at(0).id}, {"ann", "why"}, clock.now());

    EXPECT_EQ(claimed(), trace);
}

TEST_P(JobTracesTest, a_job_for_another_queue_is_pushed_with_its_trace) {
    stage(&*trace, {}, engine::Staging::to_be_pushed);
    Pushed pusher;
    ops::Enqueuer enqueuer{*store, clock, &pusher, {}};

    enqueuer.run_once();

    EXPECT_EQ(pusher.jobs.at(0).trace, trace);
}

TEST_P(JobTracesTest, jobs_keep_their_trace_when_the_service_changes_its_queue) {
    stage(&*trace);
    Pushed pusher;
    ops::Enqueuer to_another{*store, clock, &pusher, {}};
    EXPECT_EQ(to_another.move_leftovers().moved, 1);
    ops::Enqueuer back{*store, clock, nullptr, {}};
    EXPECT_EQ(back.move_leftovers().moved, 1);

    EXPECT_EQ(claimed(), trace);
}

}  // namespace pawl::conformance
