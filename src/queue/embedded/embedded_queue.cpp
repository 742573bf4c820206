#include "src/queue/embedded/embedded_queue.hpp"

#include <pawl/detail/json.hpp>
#include <pawl/detail/rows.hpp>

#include "src/core/claim.hpp"
#include "src/core/error_text.hpp"
#include "src/core/fault.hpp"
#include "src/core/mutant.hpp"
#include "src/core/time_text.hpp"
#include "store/statements.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pawl::queue {

using detail::column_as;
using detail::Row;
using detail::run_statement;

namespace {

constexpr auto no_rows = [](const Row&) {};

std::int64_t id_of(const TakenJob& job) {
    return std::stoll(job.id);
}

EmbeddedQueue::Held held(const TakenJob& job) {
    return {id_of(job), job.claim};
}

bool remove(detail::Session& session, const EmbeddedQueue::Held& job) {
    return run_statement(session, sql::delete_job, no_rows, job.id, job.claim) == 1;
}

// Runs a statement on all of them at once; which of them were still held.
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
    return {run_statement(session, sql::mark_job_called, no_rows, id, claim, now) == 1};
}

TakenJob taken(const Row& row) {
    constexpr std::string_view in = "claim_jobs";
    TakenJob job;
    job.id = std::to_string(row.integer(0));
    job.raw.jid = row.text(1);
    job.queue = row.text(2);
    job.kind = row.text(3);
    job.raw.args = row.text(4);
    job.claim = row.integer(5);
    job.failures = column_as<int>(row, 6, in);
    job.called_at = column_as<std::optional<TimePoint>>(row, 7, in);
    job.raw.key_id = column_as<std::optional<std::int64_t>>(row, 8, in);
    job.raw.created_at = column_as<TimePoint>(row, 9, in);
    job.raw.first_failed_at = column_as<std::optional<TimePoint>>(row, 10, in);
    job.raw.last_failed_at = column_as<std::optional<TimePoint>>(row, 11, in);
    job.raw.last_error = column_as<std::optional<std::string>>(row, 12, in);
    job.raw.origin = "embedded";
    job.raw.attempt = job.failures + 1;
    return job;
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

std::vector<TakenJob> EmbeddedQueue::take(int limit, std::chrono::milliseconds lease) {
    const bool due = store::read_now(store_, [&](store::Session& session) {
        std::optional<TimePoint> next;
        run_statement(
            session,
            sql::next_job_at,
            [&](const Row& row) {
                next = column_as<std::optional<TimePoint>>(row, 0, "next_job_at");
            },
            name_
        );
        return next && *next <= session.now();
    });
    if (!due) return {};  // No write transaction, and no fsync, only to find nothing.
    PAWL_FAULT("queue.take.before");
    auto jobs = store::write_now(store_, [&](store::Session& session) {
        std::vector<TakenJob> found;
        const auto now = session.now();
        run_statement(
            session,
            sql::claim_jobs,
            [&](const Row& row) { found.push_back(taken(row)); },
            name_,
            now,
            now + lease,
            limit
        );
        return found;
    });
    PAWL_FAULT("queue.take.after");
    return jobs;
}

bool EmbeddedQueue::renew(const TakenJob& job, std::chrono::milliseconds lease) {
    return store::write_now(store_, [&](store::Session& session) {
        return run_statement(
                   session, sql::renew_job, no_rows, id_of(job), job.claim, session.now() + lease
               ) == 1;
    });
}

// It need not wait for what the database says: a lost job comes out before the commit, or with it.
Marked EmbeddedQueue::finish_in(detail::Session& session, const TakenJob& job) {
    detail::fence_statement(session, sql::delete_job, id_of(job), job.claim);
    return Marked::done;
}

bool EmbeddedQueue::finish(const TakenJob& job) {
    PAWL_FAULT("queue.finish.before");
    const bool finished = finishing_.run(held(job));
    PAWL_FAULT("queue.finish.after");
    return finished;
}

bool EmbeddedQueue::put_back(
    const TakenJob& job, TimePoint run_at, const std::optional<std::string>& error
) {
    PAWL_FAULT("queue.put_back.before");
    return store::write_now(store_, [&](store::Session& session) {
        if (!error)
            return run_statement(
                       session, sql::put_job_back, no_rows, id_of(job), job.claim, run_at
                   ) == 1;
        const auto now = session.now();
        return run_statement(
                   session,
                   sql::fail_job,
                   no_rows,
                   id_of(job),
                   job.claim,
                   core::storable_error(*error),
                   now,
                   run_at,
                   core::time_text(now)
               ) == 1;
    });
}

bool EmbeddedQueue::bury(const TakenJob& job, const std::string& error) {
    PAWL_FAULT("queue.bury.before");
    return store::write_now(store_, [&](store::Session& session) {
        const auto now = session.now();
        const auto text = core::storable_error(error);
        run_statement(
            session,
            sql::bury_job,
            no_rows,
            id_of(job),
            job.claim,
            text,
            now,
            core::error_kind(text),
            core::time_text(now)
        );
        if (PAWL_MUTANT("dead_and_alive")) return true;
        return remove(session, held(job));
    });
}

bool EmbeddedQueue::mark_called(TakenJob& job) {
    const auto marked_at = marking_.run(held(job));
    if (marked_at && !job.called_at) job.called_at = marked_at;
    return marked_at.has_value();
}

int EmbeddedQueue::rescue(std::chrono::milliseconds lease) {
    return store::write_now(store_, [&](store::Session& session) {
        const auto now = session.now();
        return static_cast<int>(
            run_statement(session, sql::rescue_jobs, no_rows, now, core::lease_bound(now, lease))
        );
    });
}

std::optional<TimePoint> EmbeddedQueue::next_due() {
    return store::read_now(store_, [&](store::Session& session) {
        std::optional<TimePoint> next;
        run_statement(
            session,
            sql::next_job_at,
            [&](const Row& row) {
                next = column_as<std::optional<TimePoint>>(row, 0, "next_job_at");
            },
            name_
        );
        return next;
    });
}

}  // namespace pawl::queue
