#include "src/base/log.hpp"
#include "src/core/assert.hpp"
#include "src/core/backoff.hpp"
#include "src/core/worker_shares.hpp"
#include "src/ops/rounds.hpp"
#include "src/ops/worker.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

// The threads of a worker: when they claim jobs, wait, and stop.
namespace pawl::ops {

namespace {

// How often to look for cancelled jobs whose handlers make a call, and for jobs that wait too long.
constexpr std::chrono::seconds look_every{1};
constexpr std::chrono::seconds longest_wait_here{1};

}  // namespace

// Takes jobs into in_flight_; returns how many there were.
int Worker::claim(int limit) {
    if (pauses_.paused(options_.queue)) return 0;
    auto filter = options_.jobs;
    filter.without_kinds = in_flight_.full_kinds(kind_max());
    const auto asked_at = engine_.clock().moment();
    auto jobs = queue_.claim(limit, options_.lease, filter);
    const auto taken = static_cast<int>(jobs.size());
    in_flight_.add(std::move(jobs), asked_at);
    return taken;
}

int Worker::kind_max() const {
    return core::workers_of_a_kind(options_.threads, own_kinds_);
}

// One thread asks the queue for all threads; the others sleep until jobs come. If it finds none, no
// thread asks again for a while, unless a hint comes or a job ends. Returns whether there are jobs.
bool Worker::claim_for_all() {
    int limit = 0;
    std::uint64_t hints = 0;
    {
        const std::lock_guard lock{mutex_};
        if (engine_.clock().steady() < next_poll_ || taking_) return false;
        // Since this thread found none, another one may have claimed some for all.
        if (in_flight_.any_may_begin(kind_max())) return true;
        taking_ = true;
        // Threads in a round have a job, but for this one.
        limit = options_.limited ? claim_size_.next_limited(options_.threads - rounds_ + 1)
                                 : claim_size_.next();
        hints = hints_;
    }
    int taken = 0;
    try {
        taken = claim(limit);
    } catch (...) {
        const std::lock_guard lock{mutex_};
        taking_ = false;
        throw;
    }
    const std::lock_guard lock{mutex_};
    taking_ = false;
    claim_size_.took(taken, limit);
    if (taken == 0 && hints == hints_) next_poll_ = engine_.clock().steady() + poll_wait();
    return taken > 0;
}

std::chrono::milliseconds Worker::poll_wait() {
    return std::min(options_.poll, queue_.held_back_for(options_.jobs).value_or(options_.poll));
}

void Worker::wake() {
    {
        const std::lock_guard lock{mutex_};
        ++wakes_;
        poll_now();
    }
    woken_.notify_one();
}

void Worker::poll_now() {
    ++hints_;
    next_poll_ = {};
}

void Worker::stop_claiming() {
    const std::lock_guard lock{mutex_};
    refusing_ = true;
}

bool Worker::wait_idle(std::chrono::milliseconds limit) {
    std::unique_lock lock{mutex_};
    return idle_.wait_for(lock, limit, [this] { return rounds_ == 0; });
}

void Worker::stop_calls() {
    in_flight_.stop_all();
}

bool Worker::begin_round() {
    const std::lock_guard lock{mutex_};
    if (refusing_) return false;
    ++rounds_;
    return true;
}

void Worker::end_round(bool worked) {
    const std::lock_guard lock{mutex_};
    --rounds_;
    if (worked) poll_now();
    PAWL_ASSERT(rounds_ >= 0);
    idle_.notify_all();
}

// Returns how many jobs it worked. Jobs that another thread has taken come first.
int Worker::work_some() {
    LoneRuns::Turn turn{lone_runs_};
    if (!turn.granted()) return 0;
    const auto together = [this](const queue::ClaimedJob& job) {
        return form_in_transaction(job) != nullptr && runs_beside_others(job);
    };
    const InFlightJobs::Most most{options_.together_max, kind_max()};
    auto next = in_flight_.next(together, most);
    if (next.jobs.empty()) {
        if (!claim_for_all()) return 0;
        next = in_flight_.next(together, most);
        if (next.jobs.empty()) return 0;
    }
    {
        const std::lock_guard lock{mutex_};
        claim_size_.waited(next.longest_wait);
        if (next.more) ++wakes_;
    }
    if (next.more) woken_.notify_one();
    WorkReport report;
    const auto began = engine_.clock().steady();
    work_all(next.jobs, turn, report);
    const auto ran =
        std::chrono::duration_cast<std::chrono::milliseconds>(engine_.clock().steady() - began);
    const std::lock_guard lock{mutex_};
    claim_size_.ran(ran);
    return report.worked();
}

void Worker::run(const std::stop_token& stop) {
    std::uint64_t seen = 0;
    int failed = 0;  // Failed rounds in a row: an outage is not logged at each poll.
    while (!stop.stop_requested() && begin_round()) {
        int worked = 0;
        const bool well = run_round("worker", [&] { worked = work_some(); });
        end_round(worked > 0);
        failed = well ? 0 : failed + 1;
        if (worked > 0) continue;
        const auto longest = std::max(options_.poll, options_.outage_wait_max);
        const auto wait =
            well ? poll_wait() : core::exponential_backoff(options_.poll, longest, failed);
        std::unique_lock lock{mutex_};
        woken_.wait_for(lock, stop, wait, [&] { return wakes_ != seen; });
        seen = wakes_;
    }
    // Other servers get the jobs that wait here at once, and not only after the lease.
    run_round("worker", [this] { release(std::chrono::milliseconds{0}); });
}

void Worker::release(std::chrono::milliseconds waited_for) {
    const auto jobs = in_flight_.release(waited_for);
    if (!jobs.empty()) queue_.release(jobs);
}

void Worker::rescue_once() {
    for (const auto& job : in_flight_.held_for(options_.lease / 6)) {
        const auto asked_at = engine_.clock().moment();
        if (queue_.renew(job, options_.lease)) in_flight_.renewed(job, asked_at);
    }
    if (options_.jobs.failures_min) return;  // The worker of first tries rescues all.
    const int rescued = queue_.rescue(options_.lease);
    if (rescued > 0) log::info("rescuer", {{"rescued", rescued}});
}

void Worker::stop_lost() {
    const auto running = in_flight_.running_for(look_every);
    if (running.empty()) return;
    const auto held = queue_.still_held(running);
    for (std::size_t i = 0; i < running.size(); ++i) {
        if (held[i]) continue;
        const auto& job = running[i];
        if (in_flight_.stop(job))
            log::limited_info(
                "job_stopped", {}, {{"jid", job.raw.jid}, {"kind", job.kind}}, log::burst_of_names
            );
    }
}

void Worker::run_rescuer(const std::stop_token& stop) {
    auto& clock = engine_.clock();
    auto next_round = clock.steady();
    auto next_look = next_round;
    while (!stop.stop_requested()) {
        if (clock.steady() >= next_round) {
            run_round("rescuer", [this] { rescue_once(); });
            next_round = clock.steady() + options_.lease / 3;
        }
        if (clock.steady() >= next_look) {
            const bool well = run_round("rescuer", [this] {
                stop_lost();
                release(longest_wait_here);
            });
            next_look = well ? clock.steady() + look_every : next_round;
        }
        const auto wake_at = in_flight_.stop_overdue(std::min(next_round, next_look));
        std::unique_lock lock{mutex_};
        upkeep_.wait_for(lock, stop, wake_at - clock.steady(), [this] { return sooner_; });
        sooner_ = false;
    }
}

}  // namespace pawl::ops
