#include "src/ops/service_options.hpp"

#include "src/base/options.hpp"
#include "src/core/worker_shares.hpp"
#include "src/engine/engine.hpp"
#include "src/ops/completer.hpp"
#include "src/ops/reaper.hpp"
#include "src/ops/worker.hpp"

#include <algorithm>
#include <set>

namespace pawl {

namespace {

constexpr std::size_t layers_max = 20;
constexpr int limit_max = 100'000;
constexpr double per_second_max = 100'000;
constexpr double per_second_least = 0.0001;

}  // namespace

std::optional<std::string> ServiceOptions::problem() const {
    auto ms = [](std::chrono::milliseconds d) { return std::to_string(d.count()) + " ms"; };
    if (lease < 100ms || lease > 1h) return "lease is " + ms(lease) + ": 100 ms to 1 h";
    if (phase_deadline < 10ms)
        return "phase_deadline is " + ms(phase_deadline) + ": at least 10 ms";
    if (phase_deadline * 3 > lease)
        return "phase_deadline is " + ms(phase_deadline) + ": at most a third of the lease, " +
               ms(lease / 3);
    if (call_timeout < 1ms || call_timeout > 1h)
        return "call_timeout is " + ms(call_timeout) + ": 1 ms to 1 h";
    if (drain && (*drain < 0ms || *drain > 2h)) return "drain is " + ms(*drain) + ": 0 to 2 h";
    if (keep_keys < 1h)
        return "keep_keys is " + std::to_string(keep_keys.count()) +
               " h: at least 1 h, or clients still retry";
    if (keep_keys > engine::longest_keep)
        return "keep_keys is " + std::to_string(keep_keys.count()) + " h: at most " +
               std::to_string(engine::longest_keep.count()) + " h, a hundred years";
    if (repeats_for < 0h || repeats_for > engine::longest_keep)
        return "repeats_for is " + std::to_string(repeats_for.count()) + " h: 0 to " +
               std::to_string(engine::longest_keep.count()) + " h, a hundred years";
    if (calls_max < 1 || calls_max > 10'000)
        return "calls_max is " + std::to_string(calls_max) + ": 1 to 10000";
    if (auto why = queue_options(default_queue).problem()) return why;
    std::set<std::string_view> named;
    for (const auto& one : queues) {
        if (one.name == default_queue)
            return "queues names \"default\": its settings are workers, retry_layers and "
                   "retry_workers; for limits, give the jobs a queue of their own";
        if (!named.insert(one.name).second) return "queues names \"" + one.name + "\" twice";
        if (auto why = one.problem()) return "queues \"" + one.name + "\": " + *why;
    }
    for (const auto& name : named)
        if (auto why = ops::queue_setting(*this, name).problem()) return why;
    if (auto why = ops::queue_setting(*this, default_queue).problem()) return why;
    ops::WorkerOptions worker{.lease = job_lease, .timeout = job_timeout};
    if (auto why = worker.problem()) return why;
    ops::ReaperOptions reaper{.keep_expired = keep_expired};
    if (auto why = reaper.problem()) return why;
    return ops::CompleterOptions{.grace = complete_after, .settle_after = settle_after}.problem();
}

QueueOptions ServiceOptions::queue_options(std::string_view name) const {
    const auto at = std::ranges::find(queues, name, &QueueOptions::name);
    if (at != queues.end()) return *at;
    return {
        .name = std::string{name},
        .workers = workers,
        .retry_layers = retry_layers,
        .retry_workers = retry_workers};
}

std::optional<std::string> QueueOptions::problem() const {
    const auto ms = [](std::chrono::milliseconds d) { return std::to_string(d.count()) + " ms"; };
    if (!detail::is_queue_name(name))
        return "the name of a queue is \"" + name + "\": 1 to 64 of a-z, 0-9, _, - and .";
    if (auto why = base::out_of("workers", workers, 0, ops::workers_max)) return why;
    for (const auto wait : retry_layers)
        if (wait < 0ms || wait > engine::longest_keep)
            return "retry_layers has " + ms(wait) +
                   ": no wait is negative, or above a hundred years";
    if (retry_layers.size() > layers_max)
        return "retry_layers has " + std::to_string(retry_layers.size()) + " waits: at most " +
               std::to_string(layers_max);
    if (!retry_workers.empty() && retry_workers.size() != retry_layers.size())
        return "retry_workers has " + std::to_string(retry_workers.size()) +
               " numbers: one for each of the " + std::to_string(retry_layers.size()) +
               " retry_layers";
    for (const auto of_a_layer : retry_workers)
        if (of_a_layer < 1 || of_a_layer > ops::workers_max)
            return "retry_workers has " + std::to_string(of_a_layer) + ": 1 to 1000";
    if (auto why = base::out_of("running_max", running_max, 0, limit_max)) return why;
    if (auto why = base::out_of("partition_max", partition_max, 0, limit_max)) return why;
    if (!(rate.per_second >= 0 && rate.per_second <= per_second_max) ||
        (rate.per_second > 0 && rate.per_second < per_second_least))
        return "rate.per_second is " + std::to_string(rate.per_second) +
               ": 0 for no rate, or 0.0001 to 100000";
    return base::out_of("rate.burst", rate.burst, 1, limit_max);
}

std::vector<int> QueueOptions::layer_workers() const {
    if (workers < 1 || retry_workers.empty())
        return core::workers_of_layers(workers, retry_layers.size());
    return retry_workers;
}

namespace ops {

bool drain_is_short(const ServiceOptions& options) {
    return options.drain_time() < options.call_timeout;
}

core::QueueLimits limits_of(const QueueOptions& options) {
    core::QueueLimits limits{
        .running_max = options.running_max,
        .partition_max = options.partition_max,
        .burst = options.rate.burst};
    const auto& per_second = options.rate.per_second;
    if (per_second > 0)
        limits.token_each =
            std::chrono::ceil<core::Microseconds>(std::chrono::duration<double>{1 / per_second});
    return limits;
}

queue::QueueSetting queue_setting(const ServiceOptions& options, std::string_view name) {
    const auto of_it = options.queue_options(name);
    return {
        .url = options.queue,
        .name = of_it.name,
        .retry_layers = of_it.retry_layers,
        .limits = limits_of(of_it)};
}

}  // namespace ops

}  // namespace pawl
