#include "benchmarks/outside.hpp"

#include "src/queue/redis/scripts.hpp"
#include "src/redis/client.hpp"
#include "src/redis/connection.hpp"

#include <stdexcept>
#include <vector>

namespace pawl::bench {

using redis::Access;
using redis::Command;

Outside::Outside(const std::string& queue) {
    if (queue == "embedded") return;
    if (!queue.starts_with("redis:"))
        throw std::invalid_argument{"the jobs of " + queue + " can't be counted here"};
    redis_ = std::make_unique<redis::Client>(redis::options_of_url(queue));
}

Outside::~Outside() = default;

std::int64_t Outside::left() {
    if (!redis_) return 0;
    std::vector<Command> commands{
        {"LLEN", "queue:default"},
        {"HLEN", "pawl:work:default"},
        {"ZCARD", "schedule"},
        {"ZCARD", "retry"}};
    for (int failures = 1; failures <= queue::sidekiq::retry_lists; ++failures)
        commands.push_back({"LLEN", queue::sidekiq::retry_list("default", failures)});
    std::int64_t left = 0;
    for (const auto& reply : redis_->ask_all("bench left", commands, Access::read))
        left += reply.integer;
    return left;
}

std::int64_t Outside::dead() {
    if (!redis_) return 0;
    return redis_->ask("bench dead", {"ZCARD", "dead"}, Access::read, redis::Shape::integer)
        .integer;
}

}  // namespace pawl::bench
