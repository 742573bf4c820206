#include "src/ops/in_flight_jobs.hpp"

#include <utility>

namespace pawl::ops {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds no_time{50};

}  // namespace

void ClaimSize::took(int jobs, int asked) {
    if (jobs >= asked) now_ = std::min(2 * now_, most_);
}

void ClaimSize::waited(std::chrono::milliseconds longest) {
    if (longest > no_time) now_ = least_;
}

void ClaimSize::ran(std::chrono::milliseconds longest) {
    waited(longest);
    fast_ = longest <= no_time;
}

void InFlightJobs::add(std::vector<queue::ClaimedJob> jobs, core::Moment asked_at) {
    const auto now = clock_.steady();
    const std::lock_guard lock{mutex_};
    for (auto& job : jobs) {
        held_.insert_or_assign(job.id, Held{.job = job, .since = now, .leased = asked_at});
        waiting_.push_back({{std::move(job), asked_at}, now});
    }
}

bool InFlightJobs::is_full(const std::string& kind, int of_a_kind) const {
    const auto at = threads_.find(kind);
    return at != threads_.end() && at->second >= of_a_kind;
}

bool InFlightJobs::any_may_begin(int of_a_kind) {
    const std::lock_guard lock{mutex_};
    return std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& one) {
        return !is_full(one.held.job.kind, of_a_kind);
    });
}

InFlightJobs::Next InFlightJobs::next(
    const std::function<bool(const queue::ClaimedJob&)>& together, Most most
) {
    Next next;
    const auto now = clock_.steady();
    const std::lock_guard lock{mutex_};
    const auto may_begin = [&](const Waiting& one) {
        return !is_full(one.held.job.kind, most.of_a_kind);
    };
    auto at = std::find_if(waiting_.begin(), waiting_.end(), may_begin);
    while (at != waiting_.end() && static_cast<int>(next.jobs.size()) < most.together) {
        const bool alone = !together(at->held.job);
        if (alone && !next.jobs.empty()) break;
        next.longest_wait = std::max(
            next.longest_wait,
            std::chrono::duration_cast<std::chrono::milliseconds>(now - at->since)
        );
        next.jobs.push_back(std::move(at->held));
        at = std::find_if(waiting_.erase(at), waiting_.end(), may_begin);
        if (alone) break;
    }
    if (!next.jobs.empty()) ++threads_[next.jobs.front().job.kind];
    next.more = std::any_of(waiting_.begin(), waiting_.end(), may_begin);
    return next;
}

void InFlightJobs::turn_over(const std::string& kind) {
    const std::lock_guard lock{mutex_};
    const auto at = threads_.find(kind);
    if (at != threads_.end() && --at->second == 0) threads_.erase(at);
}

std::vector<std::string> InFlightJobs::full_kinds(int of_a_kind) {
    std::vector<std::string> full;
    const std::lock_guard lock{mutex_};
    for (const auto& [kind, threads] : threads_)
        if (threads >= of_a_kind) full.push_back(kind);
    return full;
}

std::vector<queue::ClaimedJob> InFlightJobs::release(std::chrono::milliseconds waited_for) {
    std::vector<queue::ClaimedJob> jobs;
    const auto since = clock_.steady() - waited_for;
    const std::lock_guard lock{mutex_};
    // The first has waited longest.
    while (!waiting_.empty() && waiting_.front().since <= since) {
        held_.erase(waiting_.front().held.job.id);
        jobs.push_back(std::move(waiting_.front().held.job));
        waiting_.pop_front();
    }
    return jobs;
}

std::stop_token InFlightJobs::begin(
    const queue::ClaimedJob& job, std::chrono::milliseconds timeout
) {
    std::stop_token token;
    bool sooner = false;
    {
        const auto now = clock_.steady();
        const auto stop_at = now + timeout;
        const std::lock_guard lock{mutex_};
        auto& held = held_.try_emplace(job.id, Held{.since = now}).first->second;
        held.job = job;
        held.began = now;
        held.stop_at = stop_at;
        auto& stop = held.stop.emplace();
        if (all_stop_) stop.request_stop();
        token = stop.get_token();
        sooner = stop_at < std::exchange(soonest_, std::min(soonest_, stop_at));
    }
    if (sooner && on_sooner_) on_sooner_();
    return token;
}

InFlightJobs::Held* InFlightJobs::find(const queue::ClaimedJob& job) {
    const auto at = held_.find(job.id);
    return at != held_.end() && at->second.job.claim == job.claim ? &at->second : nullptr;
}

void InFlightJobs::renewed(const queue::ClaimedJob& job, core::Moment asked_at) {
    const std::lock_guard lock{mutex_};
    if (auto* held = find(job)) held->leased = asked_at;
}

bool InFlightJobs::lease_lasts(const queue::ClaimedJob& job, std::chrono::milliseconds lease) {
    const auto now = clock_.moment();
    const std::lock_guard lock{mutex_};
    const auto* held = find(job);
    return held != nullptr && core::may_still_call(held->leased, now, 2 * lease);
}

void InFlightJobs::leave(const std::string& id, std::int64_t claim) {
    const std::lock_guard lock{mutex_};
    const auto at = held_.find(id);
    if (at != held_.end() && at->second.job.claim == claim) held_.erase(at);
}

std::vector<queue::ClaimedJob> InFlightJobs::held_for(std::chrono::milliseconds age) {
    std::vector<queue::ClaimedJob> jobs;
    const auto since = clock_.steady() - age;
    const std::lock_guard lock{mutex_};
    for (const auto& [id, held] : held_)
        if (held.since <= since) jobs.push_back(held.job);
    return jobs;
}

std::vector<queue::ClaimedJob> InFlightJobs::running_for(std::chrono::milliseconds age) {
    std::vector<queue::ClaimedJob> jobs;
    const auto begun_by = clock_.steady() - age;
    const std::lock_guard lock{mutex_};
    for (const auto& [id, held] : held_)
        if (held.stop && !held.stop->stop_requested() && held.began <= begun_by)
            jobs.push_back(held.job);
    return jobs;
}

void InFlightJobs::end(const queue::ClaimedJob& job) {
    const std::lock_guard lock{mutex_};
    if (auto* held = find(job)) held->stop.reset();
}

bool InFlightJobs::stop(const queue::ClaimedJob& job) {
    std::optional<std::stop_source> stop;
    {
        const std::lock_guard lock{mutex_};
        if (const auto* held = find(job)) stop = held->stop;
    }
    return stop && stop->request_stop();  // Runs stop callbacks: without the mutex.
}

InFlightJobs::Steady InFlightJobs::stop_overdue(Steady until) {
    std::vector<std::stop_source> overdue;
    const auto now = clock_.steady();
    {
        const std::lock_guard lock{mutex_};
        for (auto& [id, held] : held_) {
            if (!held.stop || held.stop->stop_requested()) continue;
            if (held.stop_at <= now)
                overdue.push_back(*held.stop);
            else
                until = std::min(until, held.stop_at);
        }
        soonest_ = until;
    }
    for (auto& stop : overdue) stop.request_stop();  // Runs stop callbacks: without the mutex.
    return until;
}

void InFlightJobs::stop_all() {
    std::vector<std::stop_source> stops;
    {
        const std::lock_guard lock{mutex_};
        all_stop_ = true;
        for (const auto& [id, held] : held_)
            if (held.stop) stops.push_back(*held.stop);
    }
    for (auto& stop : stops) stop.request_stop();
}

}  // namespace pawl::ops
