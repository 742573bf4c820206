#include "src/queue/redis/redis_pusher.hpp"

#include <pawl/error.hpp>

#include "src/core/fault.hpp"
#include "src/queue/redis/connection.hpp"
#include "src/queue/redis/payload.hpp"

#include <map>
#include <utility>
#include <variant>

namespace pawl::queue {

using redis::Access;
using redis::Command;

namespace {

// One round trip carries so much: enough that the way there does not count, and little enough that
// Redis answers others in between.
constexpr std::size_t round_bytes = std::size_t{1} << 20U;
constexpr std::size_t round_jobs = 1'000;
constexpr std::string_view what = "redis push";

struct Round {
    std::map<std::string, Command> by_queue;  // LPUSH queue:NAME job job ...
    std::vector<std::int64_t> ids;
    std::size_t bytes{0};

    bool full() const { return bytes >= round_bytes || ids.size() >= round_jobs; }
    void add(const StagedJob& job, std::string payload) {
        auto& command = by_queue[job.queue];
        if (command.empty()) command = {"LPUSH", "queue:" + job.queue};
        bytes += payload.size();
        command.push_back(std::move(payload));
        ids.push_back(job.id);
    }
    std::vector<Command> commands() && {
        std::vector<Command> commands;
        for (auto& [queue, command] : by_queue) {
            commands.push_back({"SADD", "queues", queue});
            commands.push_back(std::move(command));
        }
        return commands;
    }
};

void send(redis::Client& client, Round round, PushReport& report) {
    if (round.ids.empty()) return;
    const auto ids = round.ids;
    PAWL_FAULT("redis.push.before");
    const auto replies = client.ask_all(what, std::move(round).commands(), Access::write);
    PAWL_FAULT("redis.push.after");
    for (const auto& reply : replies)
        if (reply.is_error()) client.fail(what, reply.text);
    report.sent.insert(report.sent.end(), ids.begin(), ids.end());
}

}  // namespace

PushReport RedisPusher::push(std::span<const StagedJob> jobs) {
    PushReport report;
    if (jobs.empty()) return report;
    try {
        const auto now = client_.now();
        Round round;
        for (const auto& job : jobs) {
            auto made = redis::payload_of(job, now, client_.options().times);
            if (auto* refused = std::get_if<RefusedJob>(&made)) {
                report.refused.push_back(std::move(*refused));
                continue;
            }
            round.add(job, std::move(std::get<std::string>(made)));
            if (round.full()) send(client_, std::exchange(round, {}), report);
        }
        send(client_, std::move(round), report);
    } catch (const StoreError&) {
        if (report.sent.empty()) throw;
    }
    return report;
}

}  // namespace pawl::queue
