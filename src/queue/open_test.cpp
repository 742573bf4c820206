#include "src/queue/open.hpp"

#include "src/base/clock.hpp"
#include "src/store/memory/memory_store.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pawl::queue {
namespace {

using namespace std::chrono_literals;

class OpenQueueTest : public ::testing::Test {
protected:
    OpenQueue open(const QueueSetting& setting) {
        return open_queue(setting, store_, base::system_clock(), nullptr);
    }

private:
    memory::MemoryStore store_{base::system_clock()};
};

std::string problem(const QueueSetting& setting) {
    return setting.problem().value_or("none");
}

TEST_F(OpenQueueTest, the_embedded_queue_uses_the_store_and_has_no_pusher) {
    const auto opened = open({.url = "embedded"});

    opened.check();
    EXPECT_TRUE(opened.queue);
    EXPECT_TRUE(opened.dead_letters);
    EXPECT_TRUE(opened.jobs({}));
    EXPECT_FALSE(opened.pusher);
}

// No server listens at port 1.
TEST_F(OpenQueueTest, external_queues_can_be_opened_while_unreachable) {
    for (const auto* url : {"redis://127.0.0.1:1", "kafka://127.0.0.1:1"}) {
        const auto opened = open({.url = url});

        EXPECT_TRUE(opened.queue) << url;
        EXPECT_TRUE(opened.pusher) << url;
        EXPECT_TRUE(opened.dead_letters) << url;
    }
    EXPECT_TRUE(open({.url = "redis://127.0.0.1:1"}).jobs({}));
    EXPECT_FALSE(open({.url = "kafka://127.0.0.1:1"}).jobs) << "it can't search its log by job";
    EXPECT_THROW(open({.url = "redis://127.0.0.1:1"}).check(), StoreError);
}

TEST_F(OpenQueueTest, a_setting_with_a_problem_opens_nothing) {
    EXPECT_THROW(open({.url = "rabbit://here"}), std::invalid_argument);
    EXPECT_EQ(
        problem({.url = "redis:h"}),
        "queue is redis:h: embedded, redis://HOST[:PORT][/DB] or kafka://HOST[:PORT]"
    );
    EXPECT_EQ(problem({}), "none");
    EXPECT_EQ(problem({.url = "redis://here"}), "none");
    EXPECT_EQ(problem({.url = "redis://"}), "the queue's Redis URL: it names no host");
    EXPECT_EQ(problem({.url = "kafka://here"}), "none");
    EXPECT_EQ(problem({.url = "kafka://"}), "the queue's URL names no broker");
}

// A worker may retry at once, or use a delay twice; on Kafka each delay is one topic.
TEST_F(OpenQueueTest, retry_layers_may_contain_zero_and_duplicates) {
    EXPECT_EQ(problem({.url = "kafka://here", .retry_layers = {1s, 0s, 1s, 5s}}), "none");
    EXPECT_EQ(problem({.url = "kafka://here", .retry_layers = {0s, 0s}}), "none");
}

}  // namespace
}  // namespace pawl::queue
