// Issue 38, number 5: a queue whose key is no list stopped the jobs of all queues.

#include "tests/conformance/store_world.hpp"
#include "tests/redis/redis_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pawl::testing {
namespace {

using queue::RedisPusher;
using queue::RedisQueue;
using queue::StagedJob;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class RedisOddKeysTest : public ::testing::Test {
protected:
    RedisOddKeysTest() { server.ask({"SET", "queue:mails", "no list"}); }
    std::int64_t length(const std::string& key) { return server.ask({"LLEN", key}).integer; }

    RedisServer& server = empty_redis();
    conformance::HandClock clock;
    Client client{server.options(), &clock};
};

TEST_F(RedisOddKeysTest, its_jobs_are_refused_and_the_others_are_pushed_once) {
    std::vector<StagedJob> jobs{staged("a"), staged("b"), staged("c")};
    for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].id = static_cast<std::int64_t>(i + 1);
    jobs[1].queue = "mails";

    const auto report = RedisPusher{client}.push(jobs);
    RedisPusher{client}.push(jobs);

    EXPECT_THAT(report.sent, ElementsAre(1, 3));
    ASSERT_THAT(report.refused, SizeIs(1));
    EXPECT_EQ(report.refused[0].id, 2);
    EXPECT_EQ(length("queue:default"), 2);
}

TEST_F(RedisOddKeysTest, its_due_jobs_are_dead_and_the_others_are_claimed) {
    push(client, staged("a"));
    for (const auto* set : {"schedule", "retry"})
        server.ask({"ZADD", set, "1", R"({"class":"x","args":[1],"queue":"mails","jid":"m"})"});
    server.ask(
        {"ZADD", "schedule", "2", R"({"class":"x","args":[1],"queue":"default","jid":"d"})"}
    );
    RedisQueue queue{client};

    EXPECT_THAT(queue.claim(10, 30s), SizeIs(2));

    EXPECT_EQ(server.ask({"ZCARD", "dead"}).integer, 1) << "both have the same bytes";
    EXPECT_EQ(server.ask({"ZCARD", "schedule"}).integer, 0);
}

}  // namespace
}  // namespace pawl::testing
