#include "benchmarks/outside.hpp"

#include "src/redis/client.hpp"
#include "src/redis/connection.hpp"

#include <array>
#include <stdexcept>

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
    const std::array<Command, 4> commands{
        Command{"LLEN", "queue:default"},
        Command{"HLEN", "pawl:work:default"},
        Command{"ZCARD", "schedule"},
        Command{"ZCARD", "retry"}};
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
