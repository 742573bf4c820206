#include "src/queue/redis/queue_depth.hpp"

#include "tests/conformance/store_world.hpp"
#include "tests/redis/redis_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace pawl::testing {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(RedisQueueDepth, jobs_that_wait_are_counted_also_those_in_the_lists_of_retries) {
    auto& server = empty_redis();
    conformance::HandClock clock;
    Client client{server.options(), &clock};
    queue::RedisQueue queue{client};
    const auto take_one = [&] { return queue.claim(1, 30s).at(0); };
    push(client, staged("a"));
    push(client, staged("b"));
    push(client, staged("c"));
    queue.reschedule(take_one(), 0s, "an error");
    queue.reschedule(take_one(), 1min, "an error");
    // Moves the due retry to its list, and claims none.
    EXPECT_TRUE(queue.claim(10, 30s, {.failures_min = 2}).empty());
    EXPECT_EQ(server.ask({"LLEN", "pawl:retry:default:1"}).integer, 1);
    take_one();

    const auto found = queue::sidekiq::waiting(client, {"default", "mails"});

    std::vector<std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t>> counts;
    for (const auto& one : found) counts.emplace_back(one.queue, one.ready, one.running, one.later);
    EXPECT_THAT(
        counts,
        ElementsAre(
            std::tuple{"default", 1, 1, 0},
            std::tuple{"mails", 0, 0, 0},
            std::tuple{"retry (all queues)", 0, 0, 1}
        )
    );
}

TEST(RedisQueueDepth, dead_letters_are_counted_in_the_one_set_that_all_queues_share) {
    auto& server = empty_redis();
    Client client{server.options()};
    const auto dead = [&] { return queue::sidekiq::dead_counts(client); };
    EXPECT_THAT(dead(), ElementsAre(Pair("all queues", 0)));

    queue::RedisQueue queue{client};
    push(client, staged("a"));
    EXPECT_TRUE(queue.dead_letter(queue.claim(1, 30s).at(0), "for good"));
    server.ask({"ZADD", "dead", "1", "one of Ruby's"});

    EXPECT_THAT(dead(), ElementsAre(Pair("all queues", 2)));
}

}  // namespace pawl::testing
