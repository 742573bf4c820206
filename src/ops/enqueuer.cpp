#include "src/ops/enqueuer.hpp"

#include <pawl/detail/json.hpp>
#include <pawl/detail/rows.hpp>

#include "src/base/error_text.hpp"
#include "src/base/time_text.hpp"
#include "src/core/assert.hpp"
#include "src/core/backoff.hpp"
#include "src/core/call_rule.hpp"
#include "src/core/claim_rule.hpp"
#include "src/core/fault.hpp"
#include "src/ops/rounds.hpp"
#include "src/queue/dead_job_log.hpp"
#include "src/store/blocking.hpp"
#include "src/store/damaged_row.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <set>

namespace pawl::ops {

using detail::execute_statement;
using detail::read_row;
using detail::read_rows;
using detail::Row;

namespace {

// Includes jobs that are not due: a change of queue moves all.
const TimePoint no_bound = *base::time_from_text("9999-01-01T00:00:00.000Z");

std::vector<std::int64_t> ids_of(std::span<const queue::StagedJob> jobs) {
    std::vector<std::int64_t> ids;
    for (const auto& job : jobs) ids.push_back(job.id);
    return ids;
}

std::vector<std::string> jids_of(
    std::span<const queue::StagedJob> jobs, std::span<const std::int64_t> ids
) {
    const std::set<std::int64_t> wanted{ids.begin(), ids.end()};
    std::vector<std::string> jids;
    for (const auto& job : jobs)
        if (wanted.contains(job.id)) jids.push_back(job.jid);
    return jids;
}

queue::StagedJob staged_job(const Row& row) {
    using Time = std::optional<TimePoint>;
    store::DamagedRow values{row, "claim_staged_jobs"};
    queue::StagedJob job;
    job.id = row.integer(0);
    job.jid = row.text(1);
    job.queue = row.text(2);
    job.kind = row.text(3);
    job.args = row.text(4);
    job.failures = values.column<int>(5, "failures");
    job.called_at = values.column<Time>(6, "called_at");
    job.key_id = values.column<std::optional<std::int64_t>>(7, "key_id");
    job.created_at = values.column<TimePoint>(8, "created_at");
    job.first_failed_at = values.column<Time>(9, "first_failed_at");
    job.last_failed_at = values.column<Time>(10, "last_failed_at");
    job.last_error = values.column<std::optional<std::string>>(11, "last_error");
    job.history = row.text(12);
    if (!row.is_null(13)) job.trace = core::TraceContext::from_text(row.text(13));
    job.damaged = values.problem();
    return job;
}

struct ClaimUntil {
    TimePoint due_by;
    std::chrono::milliseconds claim;
    int limit;
};

std::vector<queue::StagedJob> claim_staged(
    store::Session& session, const ClaimUntil& of, std::optional<std::int64_t> server
) {
    const auto now = session.now();
    return read_rows(
        session,
        sql::claim_staged_jobs,
        staged_job,
        of.due_by,
        now,
        now + of.claim,
        core::lease_bound(now, of.claim),
        of.limit,
        server
    );
}

}  // namespace

std::optional<std::string> EnqueuerOptions::problem() const {
    if (batch_max < 1 || batch_max > 10'000)
        return "enqueuer.batch_max is " + std::to_string(batch_max) + ": 1 to 10000";
    if (claim < 1s)
        return "enqueuer.claim is " + std::to_string(claim.count()) + " ms: at least 1 s";
    return std::nullopt;
}

Enqueuer::Enqueuer(
    store::Store& store, base::Clock& clock, queue::Pusher* pusher, EnqueuerOptions options
)
    : store_{store}, clock_{clock}, pusher_{pusher}, options_{options} {}

// Reads first, so that no write transaction begins only to find no jobs.
bool Enqueuer::anything_staged(std::optional<TimePoint> due_by) {
    return store::read_now(store_, [&](store::Session& session) {
        const auto now = session.now();
        const auto found = read_row(
            session,
            sql::find_due_staged_job,
            detail::first_number,
            due_by.value_or(now),
            now,
            core::lease_bound(now, options_.claim)
        );
        return found.has_value();
    });
}

std::vector<queue::StagedJob> Enqueuer::claim() {
    if (!anything_staged(std::nullopt)) return {};
    return store::write_now(store_, [&](store::Session& session) {
        return claim_staged(
            session, {session.now(), options_.claim, options_.batch_max}, store_.server()
        );
    });
}

EnqueueReport Enqueuer::run_once() {
    EnqueueReport report;
    if (pusher_ == nullptr) return report;
    const auto asked_at = clock_.moment();
    auto jobs = claim();
    report.refused = dead_letter_damaged(jobs);
    // After a pause longer than the claim, others may have sent these jobs, and the queue may have
    // dropped its record of them. Unsent jobs are free when the claim ends.
    if (jobs.empty() || !core::may_still_call(asked_at, clock_.moment(), options_.claim))
        return report;
    PAWL_FAULT("enqueuer.push.before");
    queue::PushReport pushed;
    try {
        pushed = pusher_->push(jobs);
    } catch (...) {
        release(jobs);
        throw;
    }
    PAWL_FAULT("enqueuer.push.after");
    // Only what this round claimed is deleted: another row may not be sent yet (I7).
    const auto sent_jids = jids_of(jobs, pushed.sent);
    PAWL_ASSERT(sent_jids.size() == pushed.sent.size());
    PAWL_ASSERT(pushed.sent.size() + pushed.refused.size() <= jobs.size());
    if (on_sent_ && !pushed.sent.empty()) on_sent_(static_cast<int>(pushed.sent.size()));
    delete_sent(pushed.sent);
    PAWL_FAULT("enqueuer.delete.after");
    pusher_->forget(sent_jids);
    for (const auto& refused : pushed.refused)
        for (const auto& job : jobs)
            if (job.id == refused.id)
                dead_letter_staged(job, "the queue refuses it: " + refused.why);
    report.sent = static_cast<int>(pushed.sent.size());
    report.refused += static_cast<int>(pushed.refused.size());
    return report;
}

// Takes damaged jobs out of `pawl_jobs` first: the others are sent whatever happens here. One that
// can't be moved to the dead letters stays claimed, and comes again when its claim ends.
int Enqueuer::dead_letter_damaged(std::vector<queue::StagedJob>& jobs) {
    const auto first = std::stable_partition(jobs.begin(), jobs.end(), [](const auto& job) {
        return job.damaged.empty();
    });
    const std::vector<queue::StagedJob> damaged(first, jobs.end());
    jobs.erase(first, jobs.end());
    for (const auto& job : damaged)
        run_round("enqueuer", [&] {
            dead_letter_staged(job, "PAWL0022: the job's row is damaged: " + job.damaged);
        });
    return static_cast<int>(damaged.size());
}

void Enqueuer::delete_sent(const std::vector<std::int64_t>& ids) {
    if (ids.empty()) return;
    store::write_now(store_, [&](store::Session& session) {
        execute_statement(session, sql::delete_staged_jobs, detail::encode(ids));
    });
}

// By way of the embedded queue's tables, where people find the database's dead letters.
void Enqueuer::dead_letter_staged(const queue::StagedJob& job, const std::string& error) {
    const auto one = detail::encode(std::vector{job.id});
    const auto why = base::sanitized_error(error);
    const bool moved = store::write_now(store_, [&](store::Session& session) {
        constexpr int first_claim = 1;
        const auto now = session.now();
        const auto id = read_row(
            session,
            sql::copy_staged_to_jobs,
            detail::first_number,
            one,
            std::string_view{"running"},
            first_claim,
            now
        );
        if (!id) return false;  // Another server did it.
        execute_statement(
            session,
            sql::insert_dead_job,
            *id,
            first_claim,
            why,
            now,
            base::error_kind(why),
            base::time_text(now)
        );
        execute_statement(session, sql::delete_job, *id, first_claim);
        execute_statement(session, sql::delete_staged_jobs, one);
        return true;
    });
    if (!moved) return;
    queue::log_dead_job(
        {.jid = job.jid,
         .kind = job.kind,
         .queue = job.queue,
         .failures = job.failures,
         .detail = why}
    );
}

// If this fails too, the jobs are free when the claim ends.
void Enqueuer::release(std::span<const queue::StagedJob> jobs) noexcept {
    run_round("enqueuer", [&] {
        store::write_now(store_, [&](store::Session& session) {
            execute_statement(session, sql::release_staged_jobs, detail::encode(ids_of(jobs)));
        });
    });
}

EnqueueReport Enqueuer::move_leftovers() {
    return {.moved = pusher_ != nullptr ? jobs_to_staged() : staged_to_jobs()};
}

int Enqueuer::jobs_to_staged() {
    const bool any = store::read_now(store_, [](store::Session& session) {
        return read_row(session, sql::find_waiting_job, detail::first_number).has_value();
    });
    if (!any) return 0;
    return store::write_now(store_, [&](store::Session& session) {
        const auto now = session.now();
        // Jobs of dead workers of the embedded queue; living workers finish theirs.
        execute_statement(session, sql::rescue_jobs, now, no_bound, TimePoint{});
        const auto ids =
            read_rows(session, sql::pick_ready_jobs, detail::first_number, options_.batch_max);
        const auto list = detail::encode(ids);
        execute_statement(session, sql::copy_jobs_to_staged, list);
        execute_statement(session, sql::delete_ready_jobs, list);
        return static_cast<int>(ids.size());
    });
}

int Enqueuer::staged_to_jobs() {
    if (!anything_staged(no_bound)) return 0;
    return store::write_now(store_, [&](store::Session& session) {
        const auto jobs =
            claim_staged(session, {no_bound, options_.claim, options_.batch_max}, store_.server());
        const auto list = detail::encode(ids_of(jobs));
        constexpr int never_claimed = 0;
        execute_statement(
            session,
            sql::copy_staged_to_jobs,
            list,
            std::string_view{"ready"},
            never_claimed,
            session.now()
        );
        execute_statement(session, sql::delete_staged_jobs, list);
        return static_cast<int>(jobs.size());
    });
}

void Enqueuer::wake() {
    {
        const std::lock_guard lock{mutex_};
        ++wakes_;
    }
    woken_.notify_one();
}

void Enqueuer::run(const std::stop_token& stop) {
    auto look_elsewhere_at = clock_.steady();
    int idle = 0;  // Rounds without a job, or failed rounds.
    std::uint64_t seen = 0;
    while (!stop.stop_requested()) {
        EnqueueReport done;
        const bool well = run_round("enqueuer", [&] {
            done = run_once();
            if (clock_.steady() < look_elsewhere_at) return;
            done.moved = move_leftovers().moved;
            if (done.moved == 0) look_elsewhere_at = clock_.steady() + options_.look_elsewhere;
        });
        if (done.sent + done.refused + done.moved > 0) {
            idle = 0;
            continue;
        }
        const auto longest = well ? options_.wait_max : options_.outage_wait_max;
        const auto wait = core::exponential_backoff(options_.wait_first, longest, idle++);
        std::unique_lock lock{mutex_};
        // While the queue is away, a hint is no reason to try at once.
        const bool woken =
            woken_.wait_for(lock, stop, wait, [&] { return well && wakes_ != seen; });
        if (woken) idle = 0;
        seen = wakes_;
    }
}

}  // namespace pawl::ops
