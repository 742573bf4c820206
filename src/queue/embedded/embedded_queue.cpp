#include "src/queue/embedded/embedded_queue.hpp"

#include <pawl/detail/json.hpp>
#include <pawl/detail/rows.hpp>

#include "src/base/error_text.hpp"
#include "src/base/time_text.hpp"
#include "src/core/claim_rule.hpp"
#include "src/core/fault.hpp"
#include "src/store/damaged_row.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pawl::queue {

using detail::execute_statement;
using detail::Row;
using detail::run_statement;

namespace {

constexpr std::size_t cursors_max = 64;
constexpr TimePoint latest_of_all = std::chrono::sys_days{std::chrono::year{9999} / 12 / 31};

std::int64_t id_of(const ClaimedJob& job) {
    return std::stoll(job.id);
}

EmbeddedQueue::Held held_job(const ClaimedJob& job) {
    return {id_of(job), job.claim};
}

bool remove(detail::Session& session, const EmbeddedQueue::Held& job) {
    return execute_statement(session, sql::delete_job, job.id, job.claim) == 1;
}

// Runs one statement for all jobs; returns for each whether it was still held.
template <class... Values>
std::vector<bool> run_on_all(
    store::Session& session,
    const Sql& statement,
    const std::vector<EmbeddedQueue::Held>& jobs,
    const Values&... values
) {
    std::vector<std::string> fences;
    for (const auto& job : jobs) fences.push_back(job.fence());
    std::set<std::string> touched;
    run_statement(
        session,
        statement,
        [&](const Row& row) { touched.emplace(row.text(0)); },
        detail::encode(fences),
        values...
    );
    std::vector<bool> held;
    for (const auto& fence : fences) held.push_back(touched.contains(fence));
    return held;
}

std::vector<bool> finish_all(
    store::Session& session, const std::vector<EmbeddedQueue::Held>& jobs
) {
    if (jobs.size() == 1) return {remove(session, jobs[0])};
    return run_on_all(session, sql::delete_jobs, jobs);
}

std::vector<bool> mark_all(
    store::Session& session, const std::vector<EmbeddedQueue::Held>& jobs, TimePoint now
) {
    if (jobs.size() > 1) return run_on_all(session, sql::mark_jobs_called, jobs, now);
    const auto& [id, claim] = jobs[0];
    return {execute_statement(session, sql::mark_job_called, id, claim, now) == 1};
}

ClaimedJob job_of(const Row& row, store::DamagedRow& values) {
    ClaimedJob job;
    job.id = std::to_string(row.integer(0));
    job.raw.jid = row.text(1);
    job.queue = row.text(2);
    job.kind = row.text(3);
    job.raw.args = row.text(4);
    job.claim = row.integer(5);
    job.failures = values.column<int>(6, "failures");
    job.called_at = values.column<std::optional<TimePoint>>(7, "called_at");
    job.raw.key_id = values.column<std::optional<std::int64_t>>(8, "key_id");
    job.raw.created_at = values.column<TimePoint>(9, "created_at");
    job.raw.first_failed_at = values.column<std::optional<TimePoint>>(10, "first_failed_at");
    job.raw.last_failed_at = values.column<std::optional<TimePoint>>(11, "last_failed_at");
    job.raw.last_error = values.column<std::optional<std::string>>(12, "last_error");
    job.raw.origin = "embedded";
    job.raw.attempt = job.failures + 1;
    return job;
}

struct DamagedJob {
    ClaimedJob job;
    std::string why;
};

struct Claimed {
    void add(const Row& row) {
        store::DamagedRow values{row, "claim_jobs"};
        auto job = job_of(row, values);
        latest = std::max(latest, values.column<TimePoint>(13, "run_at"));
        if (values.problem().empty())
            jobs.push_back(std::move(job));
        else
            damaged.push_back({std::move(job), "PAWL0022: the job's row: " + values.problem()});
    }
    std::size_t count() const { return jobs.size() + damaged.size(); }

    std::vector<ClaimedJob> jobs;
    std::vector<DamagedJob> damaged;
    TimePoint latest{};  // The latest run_at of the jobs.
};

// nullopt: no job, or a run_at that does not decode. All jobs then wait for an operator.
std::optional<TimePoint> first_ready(
    store::Session& session,
    const std::string& queue,
    TimePoint from,
    TimePoint until,
    const ClaimFilter& filter
) {
    std::optional<TimePoint> first;
    run_statement(
        session,
        sql::next_job_at,
        [&](const Row& row) {
            first =
                store::DamagedRow{row, "next_job_at"}.column<std::optional<TimePoint>>(0, "run_at");
        },
        queue,
        from,
        until,
        filter.failures_min,
        filter.failures_max,
        detail::encode(filter.without_kinds)
    );
    return first;
}

}  // namespace

EmbeddedQueue::EmbeddedQueue(store::Store& store, std::string name)
    : store_{store},
      name_{std::move(name)},
      finishing_{[this](const std::vector<Held>& jobs) {
          return store::write_together(store_, sql::delete_jobs, [&](store::Session& session) {
              return finish_all(session, jobs);
          });
      }},
      marking_{[this](const std::vector<Held>& jobs) { return mark_together(jobs); }} {}

std::vector<std::optional<TimePoint>> EmbeddedQueue::mark_together(const std::vector<Held>& jobs) {
    return store::write_together(store_, sql::mark_jobs_called, [&](store::Session& session) {
        const auto now = session.now();
        std::vector<std::optional<TimePoint>> marked;
        for (const bool one : mark_all(session, jobs, now))
            marked.push_back(one ? std::optional{now} : std::nullopt);
        return marked;
    });
}

// A filter that was not used before begins where the query for all jobs is: nothing that it admits
// is before that.
PollCursor& EmbeddedQueue::cursor_of(const ClaimFilter& filter) {
    if (const auto at = cursors_.find(filter); at != cursors_.end()) return at->second;
    if (cursors_.size() >= cursors_max)
        std::erase_if(cursors_, [](const auto& one) { return !one.first.without_kinds.empty(); });
    auto wider = filter;
    wider.without_kinds.clear();
    const auto from = cursors_.find(wider);
    return cursors_.emplace(filter, from == cursors_.end() ? PollCursor{} : from->second)
        .first->second;
}

std::optional<PollCursor::Poll> EmbeddedQueue::poll_due(const ClaimFilter& filter) {
    std::optional<PollCursor::Poll> poll;
    try {
        const auto next = store::read_now(store_, [&](store::Session& session) {
            const auto now = session.now();
            {
                const std::lock_guard lock{mutex_};
                poll = cursor_of(filter).begin_poll(now);
            }
            return first_ready(session, name_, poll->from, now, filter);
        });
        if (next && *next <= poll->at) {
            poll->from = *next;  // The query has found nothing before it.
            return poll;
        }
    } catch (const StoreError& error) {
        const std::lock_guard lock{mutex_};
        if (poll && error.kind() == StoreError::Kind::deadline)
            cursor_of(filter).poll_failed(*poll);
        throw;
    }
    const std::lock_guard lock{mutex_};
    cursor_of(filter).poll_done(*poll, std::nullopt);
    return std::nullopt;
}

std::vector<ClaimedJob> EmbeddedQueue::claim(
    int limit, std::chrono::milliseconds lease, const ClaimFilter& filter
) {
    const auto poll = poll_due(filter);
    if (!poll) return {};  // Avoids a write transaction, and its fsync, if no job is due.
    PAWL_FAULT("queue.take.before");
    Claimed claimed;
    try {
        claimed = store::write_now(store_, [&](store::Session& session) {
            Claimed found;
            const auto now = session.now();
            run_statement(
                session,
                sql::claim_jobs,
                [&](const Row& row) { found.add(row); },
                name_,
                now,
                now + lease,
                limit,
                poll->from,
                filter.failures_min,
                filter.failures_max,
                detail::encode(filter.without_kinds),
                store_.server()
            );
            return found;
        });
    } catch (...) {
        const std::lock_guard lock{mutex_};
        cursor_of(filter).poll_failed(*poll);
        throw;
    }
    {
        const bool all = claimed.count() < static_cast<std::size_t>(limit);
        const std::lock_guard lock{mutex_};
        cursor_of(filter).poll_done(*poll, all ? std::nullopt : std::optional{claimed.latest});
    }
    PAWL_FAULT("queue.take.after");
    for (const auto& one : claimed.damaged) dead_letter_damaged(one.job, one.why);
    return std::move(claimed.jobs);
}

// The handler can't run a damaged job, so it becomes a dead letter. If that fails, it stays under
// its lease, and the next claim after the lease tries again. The other jobs of the same claim go
// on.
void EmbeddedQueue::dead_letter_damaged(const ClaimedJob& job, const std::string& why) {
    try {
        dead_letter(job, why);
    } catch (const StoreError&) {
        return;
    }
}

bool EmbeddedQueue::renew(const ClaimedJob& job, std::chrono::milliseconds lease) {
    return store::write_now(store_, [&](store::Session& session) {
        return execute_statement(
                   session, sql::renew_job, id_of(job), job.claim, session.now() + lease
               ) == 1;
    });
}

// Does not wait for the result: a lost lease is reported before or by the commit.
FinishResult EmbeddedQueue::finish_in_transaction(detail::Session& session, const ClaimedJob& job) {
    detail::fence_statement(session, sql::delete_job, id_of(job), job.claim);
    return FinishResult::done;
}

bool EmbeddedQueue::finish(const ClaimedJob& job) {
    PAWL_FAULT("queue.finish.before");
    const bool finished = finishing_.run(held_job(job));
    PAWL_FAULT("queue.finish.after");
    return finished;
}

bool EmbeddedQueue::reschedule(
    const ClaimedJob& job, std::chrono::milliseconds wait, const std::optional<std::string>& error
) {
    PAWL_FAULT("queue.reschedule.before");
    return store::write_now(store_, [&](store::Session& session) {
        const auto now = session.now();
        if (!error)
            return execute_statement(
                       session, sql::reschedule_job, id_of(job), job.claim, now + wait
                   ) == 1;
        return execute_statement(
                   session,
                   sql::fail_job,
                   id_of(job),
                   job.claim,
                   base::sanitized_error(*error),
                   now,
                   now + wait,
                   base::time_text(now)
               ) == 1;
    });
}

bool EmbeddedQueue::dead_letter(const ClaimedJob& job, const std::string& error) {
    PAWL_FAULT("queue.dead_letter.before");
    return store::write_now(store_, [&](store::Session& session) {
        const auto now = session.now();
        const auto text = base::sanitized_error(error);
        execute_statement(
            session,
            sql::insert_dead_job,
            id_of(job),
            job.claim,
            text,
            now,
            base::error_kind(text),
            base::time_text(now)
        );
        return remove(session, held_job(job));
    });
}

bool EmbeddedQueue::mark_called(ClaimedJob& job) {
    const auto marked_at = marking_.run(held_job(job));
    if (marked_at && !job.called_at) job.called_at = marked_at;
    return marked_at.has_value();
}

std::vector<bool> EmbeddedQueue::still_held(const std::vector<ClaimedJob>& jobs) {
    std::vector<Held> held;
    for (const auto& job : jobs) held.push_back(held_job(job));
    return store::read_now(store_, [&](store::Session& session) {
        return run_on_all(session, sql::find_held_jobs, held);
    });
}

int EmbeddedQueue::rescue(std::chrono::milliseconds lease) {
    std::optional<Sweeps::Sweep> sweep;
    try {
        const auto rescued = store::write_now(store_, [&](store::Session& session) {
            const auto now = session.now();
            {
                const std::lock_guard lock{mutex_};
                sweep = sweeps_.begin(now);
            }
            return execute_statement(
                session, sql::rescue_jobs, now, core::lease_bound(now, lease), sweep->leases_since
            );
        });
        sweep_all(*sweep);
        return static_cast<int>(rescued);
    } catch (const StoreError& error) {
        const std::lock_guard lock{mutex_};
        if (sweep && error.kind() == StoreError::Kind::deadline) sweeps_.took_too_long(*sweep);
        throw;
    }
}

// Done here and not in a worker's query: under an old snapshot it takes seconds.
void EmbeddedQueue::sweep_all(const Sweeps::Sweep& sweep) {
    std::vector<ClaimFilter> filters;
    if (sweep.whole) {
        const std::lock_guard lock{mutex_};
        for (const auto& [filter, cursor] : cursors_) filters.push_back(filter);
    }
    TimePoint ended = sweep.at;
    for (const auto& filter : filters) {
        std::optional<TimePoint> first;
        store::read_now(store_, [&](store::Session& session) {
            first = first_ready(session, name_, from_the_beginning, sweep.at, filter);
            ended = session.now();
        });
        const std::lock_guard lock{mutex_};
        if (first) cursor_of(filter).job_seen_at(*first);
    }
    const std::lock_guard lock{mutex_};
    sweeps_.ended(sweep, ended);
}

std::optional<TimePoint> EmbeddedQueue::next_due() {
    return store::read_now(store_, [&](store::Session& session) {
        return first_ready(session, name_, from_the_beginning, latest_of_all, ClaimFilter{});
    });
}

}  // namespace pawl::queue
