#include "src/client/alert_queue.hpp"

#include <gtest/gtest.h>

namespace pawl::client {
namespace {

using namespace std::chrono_literals;

constexpr AlertQueue::Time start{1h};

std::string line(int number) {
    return R"({"number":)" + std::to_string(number) + '}';
}

TEST(AlertQueue, the_first_is_sent_at_once_and_the_next_says_how_many_more_there_were) {
    AlertQueue queue;
    queue.add("job_dead", line(0));

    EXPECT_EQ(queue.next(start)->text(), R"({"number":0})");
    for (int i = 1; i <= 137; ++i) queue.add("job_dead", line(i));
    EXPECT_FALSE(queue.next(start + 9s));
    EXPECT_EQ(queue.due(), start + 10s);
    EXPECT_EQ(queue.next(start + 10s)->text(), R"({"number":1,"more":136})");
    EXPECT_FALSE(queue.next(start + 1h));
    EXPECT_EQ(queue.due(), std::nullopt);
}

TEST(AlertQueue, other_events_do_not_wait_for_each_other) {
    AlertQueue queue;
    queue.add("store_down", line(0));
    EXPECT_EQ(queue.next(start)->event, "store_down");

    queue.add("store_down", line(1));
    queue.add("store_up", line(2));

    EXPECT_EQ(queue.next(start + 1s)->event, "store_up");
    EXPECT_FALSE(queue.next(start + 1s));
}

TEST(AlertQueue, what_was_not_delivered_is_counted_in_the_next) {
    AlertQueue queue;
    for (int i = 0; i < 3; ++i) queue.add("job_dead", line(i));

    queue.failed(*queue.next(start));

    EXPECT_EQ(queue.due(), std::nullopt);
    queue.add("job_dead", line(3));
    EXPECT_EQ(queue.next(start + 10s)->text(), R"({"number":3,"more":3})");
}

TEST(AlertQueue, only_some_events_are_alerts) {
    EXPECT_TRUE(is_alert("attention_added"));
    EXPECT_FALSE(is_alert("job_failed"));
}

}  // namespace
}  // namespace pawl::client
