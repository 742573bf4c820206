#include "src/queue/redis/redis_pusher.hpp"

#include <pawl/error.hpp>

#include "src/core/fault.hpp"
#include "src/queue/redis/payload.hpp"
#include "src/queue/redis/scripts.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>
#include <variant>

namespace pawl::queue {

using redis::Command;

namespace {

// Limits of one round trip: large enough to hide latency, small enough not to block other clients.
constexpr std::size_t round_bytes = std::size_t{1} << 20U;
constexpr std::size_t round_jobs = 1'000;
// Longer than a server can be down between a push and the deletion of the staged row; as long as
// the inbox remembers done jobs.
constexpr std::chrono::hours remembered{7 * 24};

}  // namespace

struct RedisPusher::Round {
    Command jobs;  // For each job: queue, jid, payload.
    std::vector<std::int64_t> ids;
    std::vector<std::string> queues;  // Of each.
    std::size_t bytes{0};

    bool full() const { return bytes >= round_bytes || ids.size() >= round_jobs; }
    void add(const StagedJob& job, std::string payload) {
        bytes += payload.size();
        jobs.insert(jobs.end(), {job.queue, job.jid, std::move(payload)});
        queues.push_back(job.queue);
        ids.push_back(job.id);
    }
};

void RedisPusher::send(Round round, PushReport& report) {
    if (round.ids.empty()) return;
    auto forgotten = to_forget();
    const std::chrono::milliseconds memory = remembered;
    Command arguments{
        client_.given_now(), std::to_string(memory.count()), std::to_string(forgotten.size())};
    arguments.insert(arguments.end(), forgotten.begin(), forgotten.end());
    arguments.insert(
        arguments.end(),
        std::make_move_iterator(round.jobs.begin()),
        std::make_move_iterator(round.jobs.end())
    );
    PAWL_FAULT("redis.push.before");
    const auto reply = client_.run(sidekiq::scripts::push, {"pawl:pushed", "queues"}, arguments);
    PAWL_FAULT("redis.push.after");
    for (std::size_t i = 0; i < round.ids.size(); ++i) {
        const auto& queue = round.queues[i];
        if (std::ranges::find(reply.items, queue, &redis::Reply::text) == reply.items.end())
            report.sent.push_back(round.ids[i]);
        else
            report.refused.push_back(
                {round.ids[i], "the key queue:" + queue + " is no list, so nothing can join it"}
            );
    }
}

// At most as many as one script can take; the rest goes with the next push. If a push fails, these
// are lost and expire by time.
std::vector<std::string> RedisPusher::to_forget() {
    const std::lock_guard lock{mutex_};
    const auto count = static_cast<std::ptrdiff_t>(std::min(forgotten_.size(), round_jobs));
    std::vector<std::string> some{
        std::make_move_iterator(forgotten_.end() - count),
        std::make_move_iterator(forgotten_.end())};
    forgotten_.resize(forgotten_.size() - some.size());
    return some;
}

void RedisPusher::forget(std::span<const std::string> jids) {
    const std::lock_guard lock{mutex_};
    forgotten_.insert(forgotten_.end(), jids.begin(), jids.end());
}

PushReport RedisPusher::push(std::span<const StagedJob> jobs) {
    PushReport report;
    if (jobs.empty()) return report;
    try {
        const auto now = client_.now();
        Round round;
        for (const auto& job : jobs) {
            auto made = sidekiq::payload_of(job, now, client_.options().times);
            if (auto* refused = std::get_if<RefusedJob>(&made)) {
                report.refused.push_back(std::move(*refused));
                continue;
            }
            round.add(job, std::move(std::get<std::string>(made)));
            if (round.full()) send(std::exchange(round, {}), report);
        }
        send(std::move(round), report);
    } catch (const StoreError&) {
        if (report.sent.empty()) throw;
    }
    return report;
}

}  // namespace pawl::queue
