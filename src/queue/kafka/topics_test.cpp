#include "src/queue/kafka/topics.hpp"

#include <gtest/gtest.h>

namespace pawl::queue::kafka {

namespace {

const KafkaOptions options{.prefix = "shop", .group = "rides", .layers = {10s, 1min}};

}  // namespace

TEST(Topics, the_group_is_in_the_names_of_retry_and_dead_letter_topics) {
    EXPECT_EQ(main_topic(options, "mails"), "shop.mails");
    EXPECT_EQ(retry_topic(options, "mails", 10s), "shop.mails__rides__retry_10000");
    EXPECT_EQ(dead_topic(options, "mails"), "shop.mails__rides__dlq");
    EXPECT_EQ(consumer_group(options, "mails"), "rides.mails");
    EXPECT_EQ(
        worked_topics(options, "mails"),
        (std::vector<std::string>{
            "shop.mails", "shop.mails__rides__retry_10000", "shop.mails__rides__retry_60000"})
    );
}

TEST(Topics, topics_of_removed_layers_are_recognized_by_name) {
    EXPECT_EQ(
        topics_of_old_layers(
            options,
            "mails",
            {"shop.mails",
             "shop.mails__rides__retry_10000",
             "shop.mails__rides__retry_5000",
             "shop.mails__rides__retry_",
             "shop.mails__rides__retry_5s",
             "shop.mails__others__retry_5000",
             "shop.bills__rides__retry_5000",
             "shop.mails__rides__dlq",
             "shop"}
        ),
        std::vector<std::string>{"shop.mails__rides__retry_5000"}
    );
}

TEST(Topics, a_dead_letter_topic_names_its_queue) {
    EXPECT_EQ(queue_of_dead_topic(options, "shop.mails__rides__dlq"), "mails");
    EXPECT_EQ(queue_of_dead_topic(options, "shop.a.b-c__rides__dlq"), "a.b-c");
    for (const auto* other :
         {"shop.mails", "shop.mails__others__dlq", "shop.__rides__dlq", "pawl.mails__rides__dlq"})
        EXPECT_FALSE(queue_of_dead_topic(options, other)) << other;
}

TEST(Topics, a_name_that_kafka_refuses_is_not_a_topic) {
    EXPECT_TRUE(is_topic("a.B_9-"));
    EXPECT_TRUE(is_topic(std::string(249, 'a')));
    for (const auto& name :
         {std::string{},
          std::string{"."},
          std::string{".."},
          std::string{"a b"},
          std::string{"a/b"},
          std::string{"\xC3\xBC"},
          std::string(250, 'a')})
        EXPECT_FALSE(is_topic(name)) << name;
}

TEST(Topics, a_job_waits_in_the_topic_of_the_nearest_shorter_delay) {
    const std::vector<std::chrono::milliseconds> layers{10s, 1min, 10min};

    EXPECT_EQ(layer_for(layers, -1s), 10s);
    EXPECT_EQ(layer_for(layers, 1s), 10s);
    EXPECT_EQ(layer_for(layers, 10s), 10s);
    EXPECT_EQ(layer_for(layers, 11s), 10s);  // The first layer plus a tenth.
    EXPECT_EQ(layer_for(layers, 66s), 1min);
    EXPECT_EQ(layer_for(layers, 24h), 10min);
}

}  // namespace pawl::queue::kafka
