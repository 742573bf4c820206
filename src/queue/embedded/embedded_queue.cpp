#include "src/queue/embedded/embedded_queue.hpp"

#include <pawl/detail/json.hpp>
#include <pawl/detail/rows.hpp>

#include "src/base/error_text.hpp"
#include "src/base/time_text.hpp"
#include "src/core/claim_rule.hpp"
#include "src/core/fault.hpp"
#include "src/queue/dead_job_log.hpp"
#include "src/queue/embedded/job_ids.hpp"
#include "src/store/damaged_row.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace pawl::queue {

using detail::execute_statement;
using detail::Row;
using detail::run_statement;

namespace {

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
    job.deaths = values.column<int>(15, "deaths");
    job.deaths_before_alone = values.column<std::optional<int>>(16, "deaths_before_alone");
    if (!row.is_null(14)) job.trace = core::TraceContext::from_text(row.text(14));
    return job;
}

struct DamagedJob {
    ClaimedJob job;
    std::string why;
};

// Of each priority. nullopt: no job.
using FirstReady = std::array<std::optional<TimePoint>, detail::priorities>;

FirstReady first_ready(
    store::Session& session,
    const std::string& queue,
    const std::vector<TimePoint>& from,
    TimePoint until,
    const ClaimFilter& filter
) {
    FirstReady first;
    const auto add = [&](const Row& row) {
        const auto level = static_cast<std::size_t>(row.integer(0)) - 1;
        store::DamagedRow values{row, "next_job_at"};
        first.at(level) = values.column<std::optional<TimePoint>>(1, "run_at");
        // The claim makes it a dead letter, and the others do not wait for that.
        if (!values.problem().empty()) first.at(level) = from.at(level);
    };
    std::vector<std::string> from_texts;
    for (const auto at : from) from_texts.push_back(base::time_text(at));
    run_statement(
        session,
        sql::next_job_at,
        add,
        queue,
        detail::encode(from_texts),
        until,
        filter.failures_min,
        filter.failures_max,
        detail::encode(filter.without_kinds)
    );
    return first;
}

FirstReady first_ready_of_all(
    store::Session& session, const std::string& queue, TimePoint until, const ClaimFilter& filter
) {
    const std::vector<TimePoint> from(detail::priorities, from_the_beginning);
    return first_ready(session, queue, from, until, filter);
}

}  // namespace

struct EmbeddedQueue::Claimed {
    TimePoint add(const Row& row) {
        store::DamagedRow values{row, "claim_jobs"};
        auto job = job_of(row, values);
        const auto run_at = values.column<TimePoint>(13, "run_at");
        if (values.problem().empty())
            jobs.push_back(std::move(job));
        else
            damaged.push_back({std::move(job), "PAWL0022: the job's row: " + values.problem()});
        return run_at;
    }
    int count() const { return static_cast<int>(jobs.size() + damaged.size()); }

    // The polls that have ended, and the latest run_at of their jobs; nullopt: all are claimed.
    struct Ended {
        QueueCursors::Poll poll;
        std::optional<TimePoint> last;
    };
    std::vector<ClaimedJob> jobs{};
    std::vector<DamagedJob> damaged{};
    std::vector<Ended> ended{};
};

EmbeddedQueue::EmbeddedQueue(store::Store& store, std::string name, core::QueueLimits limits)
    : store_{store},
      name_{std::move(name)},
      finishing_{[this](const std::vector<Held>& jobs) {
          return store::write_together(store_, sql::delete_jobs, [&](store::Session& session) {
              return finish_all(session, jobs);
          });
      }},
      marking_{[this](const std::vector<Held>& jobs) { return mark_together(jobs); }} {
    if (limits.any()) limited_.emplace(name_, limits);
}

std::vector<std::optional<TimePoint>> EmbeddedQueue::mark_together(const std::vector<Held>& jobs) {
    return store::write_together(store_, sql::mark_jobs_called, [&](store::Session& session) {
        const auto now = session.now();
        std::vector<std::optional<TimePoint>> marked;
        for (const bool one : mark_all(session, jobs, now))
            marked.push_back(one ? std::optional{now} : std::nullopt);
        return marked;
    });
}

std::vector<QueueCursors::Poll> EmbeddedQueue::poll_due(const ClaimFilter& filter) {
    std::vector<QueueCursors::Poll> polls;
    FirstReady first;
    bool may_claim = true;
    try {
        first = store::read_now(store_, [&](store::Session& session) {
            const auto now = session.now();
            polls = cursors_.begin_polls(filter, now);
            std::vector<TimePoint> from;
            for (const auto& [level, poll] : polls) from.push_back(poll.from);
            auto found = first_ready(session, name_, from, now, filter);
            // A claim that may take nothing would lock the row of limits, and commit.
            const auto is_due = [&](const auto& at) { return at && *at <= now; };
            if (limited_) limited_->held_back().set(filter, {});
            if (limited_ && std::ranges::any_of(found, is_due))
                may_claim = limited_->has_room(session, filter);
            return found;
        });
    } catch (const StoreError& error) {
        if (error.kind() == StoreError::Kind::deadline) cursors_.polls_failed(filter, polls);
        throw;
    }
    std::vector<QueueCursors::Poll> due;
    for (auto& one : polls) {
        const auto at = first[one.level];
        if (!at || *at > one.poll.at) {
            cursors_.poll_done(filter, one, std::nullopt);
            continue;
        }
        one.poll.from = *at;  // The query has found nothing before it.
        if (may_claim) due.push_back(one);
    }
    return due;
}

std::vector<ClaimedJob> EmbeddedQueue::claim(
    int limit, std::chrono::milliseconds lease, const ClaimFilter& filter
) {
    const bool look_first = limited_ || !cursors_.more_due(filter);
    auto due = look_first ? poll_due(filter) : std::vector<QueueCursors::Poll>{};
    // Avoids a write transaction, and its fsync, if no job is due.
    if (look_first && due.empty()) return {};
    PAWL_FAULT("queue.take.before");
    Claimed claimed;
    try {
        claimed = store::write_now(store_, [&](store::Session& session) {
            if (!look_first) due = cursors_.begin_polls(filter, session.now());
            return limited_ ? claim_limited(session, due, limit, lease, filter)
                            : claim_due(session, due, limit, lease, filter);
        });
    } catch (...) {
        cursors_.polls_failed(filter, due);
        throw;
    }
    for (const auto& [poll, last] : claimed.ended) cursors_.poll_done(filter, poll, last);
    cursors_.set_more_due(filter, claimed.count() == limit);
    PAWL_FAULT("queue.take.after");
    for (const auto& one : claimed.damaged) dead_letter_damaged(one.job, one.why);
    return std::move(claimed.jobs);
}

EmbeddedQueue::Claimed EmbeddedQueue::claim_due(
    store::Session& session,
    const std::vector<QueueCursors::Poll>& due,
    int limit,
    std::chrono::milliseconds lease,
    const ClaimFilter& filter
) {
    Claimed found;
    const auto now = session.now();
    for (const auto& one : due) {
        const auto left = limit - found.count();
        if (left == 0) break;
        TimePoint latest{};
        run_statement(
            session,
            sql::claim_jobs,
            [&](const Row& row) { latest = std::max(latest, found.add(row)); },
            name_,
            now,
            now + lease,
            left,
            one.poll.from,
            filter.failures_min,
            filter.failures_max,
            detail::encode(filter.without_kinds),
            store_.server(),
            one.priority()
        );
        const bool all = found.count() < limit;
        found.ended.push_back({one, all ? std::nullopt : std::optional{latest}});
    }
    return found;
}

EmbeddedQueue::Claimed EmbeddedQueue::claim_limited(
    store::Session& session,
    const std::vector<QueueCursors::Poll>& due,
    int limit,
    std::chrono::milliseconds lease,
    const ClaimFilter& filter
) {
    Claimed found;
    std::vector<std::int64_t> ids;
    for (const auto& picked : limited_->pick(session, filter, due, limit)) {
        ids.insert(ids.end(), picked.ids.begin(), picked.ids.end());
        if (limited_->in_turns()) continue;
        found.ended.push_back(
            {picked.poll, picked.all ? std::nullopt : std::optional{picked.latest}}
        );
    }
    if (ids.empty()) return found;
    run_statement(
        session,
        sql::claim_picked_jobs,
        [&](const Row& row) { found.add(row); },
        json_list(ids),
        session.now() + lease,
        store_.server()
    );
    return found;
}

std::optional<std::chrono::milliseconds> EmbeddedQueue::held_back_for(const ClaimFilter& filter) {
    return limited_ ? limited_->held_back().get(filter) : std::nullopt;
}

// The handler can't run a damaged job, so it becomes a dead letter. If that fails, it stays under
// its lease, and the next claim after the lease tries again. The other jobs of the same claim go
// on.
void EmbeddedQueue::dead_letter_damaged(const ClaimedJob& job, const std::string& why) {
    try {
        if (dead_letter(job, why))
            log_dead_job(
                {.jid = job.raw.jid,
                 .kind = job.kind,
                 .queue = job.queue,
                 .failures = job.failures,
                 .detail = why}
            );
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

void EmbeddedQueue::release(const std::vector<ClaimedJob>& jobs) {
    if (jobs.empty()) return;
    store::write_now(store_, [&](store::Session& session) {
        for (const auto& job : jobs)
            execute_statement(session, sql::reschedule_job, id_of(job), job.claim, session.now());
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

bool EmbeddedQueue::begin_alone(ClaimedJob& job) {
    return store::write_now(store_, [&](store::Session& session) {
        return execute_statement(session, sql::begin_job_alone, id_of(job), job.claim) == 1;
    });
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
    const auto filters = sweep.whole ? cursors_.filters() : std::vector<ClaimFilter>{};
    TimePoint ended = sweep.at;
    for (const auto& filter : filters) {
        FirstReady first;
        store::read_now(store_, [&](store::Session& session) {
            first = first_ready_of_all(session, name_, sweep.at, filter);
            ended = session.now();
        });
        for (std::size_t level = 0; level < first.size(); ++level)
            if (first[level]) cursors_.job_seen_at(filter, level, *first[level]);
    }
    {
        const std::lock_guard lock{mutex_};
        sweeps_.ended(sweep, ended);
    }
    if (sweep.whole && limited_ && limited_->in_turns()) limited_->give_partitions(store_);
}

std::optional<TimePoint> EmbeddedQueue::next_due() {
    return store::read_now(store_, [&](store::Session& session) {
        std::optional<TimePoint> next;
        for (const auto& first : first_ready_of_all(session, name_, latest_of_all, ClaimFilter{}))
            if (first) next = std::min(*first, next.value_or(*first));
        return next;
    });
}

}  // namespace pawl::queue
