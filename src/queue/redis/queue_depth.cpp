#include "src/queue/redis/queue_depth.hpp"

#include "src/queue/redis/scripts.hpp"
#include "src/redis/connection.hpp"

namespace pawl::queue::sidekiq {

namespace {

constexpr std::size_t queues_max = 1'000;

std::int64_t count_of(redis::Client& client, const redis::Reply& reply) {
    client.expect("redis waiting", reply, redis::Shape::integer);
    return reply.integer;
}

}  // namespace

std::set<std::string, std::less<>> known_queues(
    redis::Client& client, std::set<std::string, std::less<>> own
) {
    const auto queues = client.ask(
        "redis queues", {"SMEMBERS", "queues"}, redis::Access::read, redis::Shape::texts
    );
    for (const auto& name : queues.items)
        if (own.size() < queues_max) own.insert(name.text);
    return own;
}

std::vector<QueueDepth> waiting(
    redis::Client& client, const std::set<std::string, std::less<>>& own
) {
    constexpr auto read = redis::Access::read;
    const auto names = known_queues(client, own);
    std::vector<redis::Command> commands{{"ZCARD", "schedule"}, {"ZCARD", "retry"}};
    for (const auto& name : names) {
        commands.push_back({"LLEN", "queue:" + name});
        commands.push_back({"HLEN", "pawl:work:" + name});
        for (int failures = 1; failures <= retry_lists; ++failures)
            commands.push_back({"LLEN", retry_list(name, failures)});
    }
    const auto counts = client.ask_all("redis waiting", commands, read);
    std::vector<QueueDepth> found;
    std::size_t at = 2;
    for (const auto& name : names) {
        auto ready = count_of(client, counts.at(at++));
        const auto running = count_of(client, counts.at(at++));
        for (int failures = 1; failures <= retry_lists; ++failures)
            ready += count_of(client, counts.at(at++));
        found.push_back({.queue = name, .ready = ready, .running = running});
    }
    for (const std::size_t set : {0U, 1U}) {
        const auto later = count_of(client, counts.at(set));
        if (later == 0) continue;
        found.push_back({.queue = commands[set][1] + " (all queues)", .later = later});
    }
    return found;
}

DeadCounts dead_counts(redis::Client& client) {
    const auto dead = client.ask(
        "redis dead count", {"ZCARD", "dead"}, redis::Access::read, redis::Shape::integer
    );
    return {{"all queues", dead.integer}};
}

}  // namespace pawl::queue::sidekiq
