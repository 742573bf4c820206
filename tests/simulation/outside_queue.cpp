#include "tests/simulation/outside_queue.hpp"

#include <pawl/detail/rows.hpp>

#include "src/core/claim_rule.hpp"
#include "src/queue/inbox.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <utility>

namespace pawl::simulation {

using State = Broker::Job::State;

queue::PushReport OutsideQueue::push(std::span<const queue::StagedJob> jobs) {
    way_.there();
    queue::PushReport report;
    for (const auto& job : jobs) {
        report.sent.push_back(job.id);
        if (!broker_.pushed.insert(job.jid).second) continue;
        ++broker_.entries[job.jid];
        broker_.jobs.emplace(++broker_.ids, Broker::Job{job, State::ready, clock_.now(), {}, 0});
    }
    way_.back();
    return report;
}

void OutsideQueue::forget(std::span<const std::string> jids) {
    way_.there();
    for (const auto& jid : jids) broker_.pushed.erase(jid);
    way_.back();
}

std::vector<queue::ClaimedJob> OutsideQueue::claim(
    int limit, std::chrono::milliseconds lease, const queue::ClaimFilter& filter
) {
    way_.there();
    std::vector<std::pair<const std::int64_t, Broker::Job>*> due;
    for (auto& each : broker_.jobs)
        if (each.second.state == State::ready && each.second.job.queue == name_ &&
            each.second.run_at <= clock_.now() &&
            filter.admits(each.second.job.failures, each.second.job.kind))
            due.push_back(&each);
    std::stable_sort(due.begin(), due.end(), [](const auto* a, const auto* b) {
        return a->second.run_at < b->second.run_at;
    });
    std::vector<queue::ClaimedJob> taken;
    for (auto* each : due) {
        if (static_cast<int>(taken.size()) == limit) break;
        auto& [id, of] = *each;
        of.state = State::leased;
        of.lease_until = clock_.now() + lease;
        of.claim = ++broker_.claims;
        queue::ClaimedJob job;
        job.id = std::to_string(id);
        job.claim = of.claim;
        job.failures = of.job.failures;
        job.deaths = of.deaths;
        job.deaths_before_alone = of.deaths_before_alone;
        job.queue = of.job.queue;
        job.kind = of.job.kind;
        job.called_at = of.job.called_at;
        job.raw.jid = of.job.jid;
        job.raw.args = of.job.args;
        job.raw.attempt = of.job.failures + 1;
        job.raw.key_id = of.job.key_id;
        job.raw.created_at = of.job.created_at;
        job.raw.first_failed_at = of.job.first_failed_at;
        job.raw.last_failed_at = of.job.last_failed_at;
        job.raw.last_error = of.job.last_error;
        job.raw.origin = "outside";
        taken.push_back(std::move(job));
    }
    way_.back();
    return taken;
}

template <class F>
bool OutsideQueue::of_held(const queue::ClaimedJob& job, F f) {
    way_.there();
    const auto at = broker_.jobs.find(std::stoll(job.id));
    const bool held = at != broker_.jobs.end() && at->second.state == State::leased &&
                      at->second.claim == job.claim;
    if (held) f(at);
    way_.back();
    return held;
}

void OutsideQueue::fail(queue::StagedJob& job, const std::string& error, TimePoint now) {
    ++job.failures;
    job.last_error = error;
    job.last_failed_at = now;
    if (!job.first_failed_at) job.first_failed_at = now;
}

bool OutsideQueue::renew(const queue::ClaimedJob& job, std::chrono::milliseconds lease) {
    return of_held(job, [&](auto at) { at->second.lease_until = clock_.now() + lease; });
}

// In the database, so that it commits with the handler's writes.
queue::FinishResult OutsideQueue::finish_in_transaction(
    detail::Session& session, const queue::ClaimedJob& job
) {
    const auto inserted = detail::run_statement(
        session, sql::insert_done, [](const detail::Row&) {}, job.raw.jid, session.now()
    );
    return inserted == 1 ? queue::FinishResult::done : queue::FinishResult::done_before;
}

bool OutsideQueue::done_before(detail::Session& session, const queue::ClaimedJob& job) {
    return queue::is_in_inbox(session, job.raw.jid);
}

bool OutsideQueue::finish(const queue::ClaimedJob& job) {
    return of_held(job, [&](auto at) { broker_.jobs.erase(at); });
}

bool OutsideQueue::reschedule(
    const queue::ClaimedJob& job,
    std::chrono::milliseconds wait,
    const std::optional<std::string>& error
) {
    return of_held(job, [&](auto at) {
        auto& of = at->second;
        if (error) fail(of.job, *error, clock_.now());
        of.deaths_before_alone.reset();
        of.state = State::ready;
        of.run_at = clock_.now() + wait;
    });
}

bool OutsideQueue::dead_letter(const queue::ClaimedJob& job, const std::string& error) {
    return of_held(job, [&](auto at) {
        fail(at->second.job, error, clock_.now());
        at->second.state = State::dead;
    });
}

bool OutsideQueue::mark_called(queue::ClaimedJob& job) {
    return of_held(job, [&](auto at) {
        auto& called_at = at->second.job.called_at;
        if (!called_at) called_at = clock_.now();
        job.called_at = called_at;
    });
}

bool OutsideQueue::begin_alone(queue::ClaimedJob& job) {
    return of_held(job, [&](auto at) { at->second.deaths_before_alone = at->second.deaths; });
}

int OutsideQueue::rescue(std::chrono::milliseconds lease) {
    way_.there();
    const auto now = clock_.now();
    int rescued = 0;
    for (auto& [id, of] : broker_.jobs) {
        if (of.state != State::leased || !core::lease_over(of.lease_until, now, lease)) continue;
        if (of.lease_until <= now) ++of.deaths;
        of.state = State::ready;
        of.run_at = now;
        ++rescued;
    }
    way_.back();
    return rescued;
}

std::optional<TimePoint> OutsideQueue::next_due() {
    way_.there();
    std::optional<TimePoint> next;
    for (const auto& [id, of] : broker_.jobs)
        if (of.state == State::ready && of.job.queue == name_ && (!next || of.run_at < *next))
            next = of.run_at;
    way_.back();
    return next;
}

}  // namespace pawl::simulation
