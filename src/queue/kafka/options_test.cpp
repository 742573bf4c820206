#include "src/queue/kafka/options.hpp"

#include <gmock/gmock.h>

namespace pawl::queue {

namespace {

using ::testing::HasSubstr;

std::string brokers_of(const std::string& url) {
    return kafka_options_of_url(url).brokers;
}

}  // namespace

TEST(KafkaOptions, a_url_names_brokers_prefix_and_group) {
    const auto options = kafka_options_of_url("kafka://one,two:9093/shop?group=rides");

    EXPECT_EQ(options.brokers, "one:9092,two:9093");
    EXPECT_EQ(options.prefix, "shop");
    EXPECT_EQ(options.group, "rides");
    EXPECT_FALSE(options.problem());
}

TEST(KafkaOptions, options_missing_in_the_url_keep_their_values) {
    const auto options = kafka_options_of_url("kafka://one");

    EXPECT_EQ(options.prefix, "pawl");
    EXPECT_EQ(options.group, "pawl");
    EXPECT_FALSE(options.problem());
}

TEST(KafkaOptions, a_superfluous_comma_names_no_broker) {
    EXPECT_EQ(brokers_of("kafka://one,,two,"), "one:9092,two:9092");
    EXPECT_EQ(brokers_of("kafka://,"), "");
}

TEST(KafkaOptions, an_address_of_ipv6_has_its_port_behind_its_brackets) {
    EXPECT_EQ(brokers_of("kafka://[::1]"), "[::1]:9092");
    EXPECT_EQ(brokers_of("kafka://[::1]:9093"), "[::1]:9093");
}

TEST(KafkaOptions, other_parameters_are_librdkafkas) {
    const auto options =
        kafka_options_of_url("kafka://one?security.protocol=SASL_SSL&sasl.password=a%26b%3D");

    ASSERT_EQ(options.settings.size(), 2);
    EXPECT_EQ(options.settings[0].first, "security.protocol");
    EXPECT_EQ(options.settings[1].second, "a&b=");
    EXPECT_FALSE(options.problem());
}

TEST(KafkaOptions, settings_that_the_guarantees_rest_on_cannot_be_changed) {
    for (const auto* setting : {"acks=1", "enable.auto.commit=true", "enable.idempotence=false"})
        EXPECT_THAT(
            kafka_options_of_url("kafka://one?" + std::string{setting}).problem().value_or("none"),
            HasSubstr("can't be changed")
        );
}

TEST(KafkaOptions, a_malformed_kafka_url_is_refused) {
    EXPECT_THROW(kafka_options_of_url("redis://one"), std::invalid_argument);
    EXPECT_THROW(kafka_options_of_url("kafka://one?group=%4"), std::invalid_argument);
    EXPECT_THROW(kafka_options_of_url("kafka://one?group=%zz"), std::invalid_argument);
    EXPECT_THROW(kafka_options_of_url("kafka://one?group=%4z"), std::invalid_argument);
}

TEST(KafkaOptions, an_option_out_of_its_limits_is_named) {
    const auto problem = [](auto change) {
        KafkaOptions options{.brokers = "one:9092"};
        change(options);
        return options.problem().value_or("none");
    };

    EXPECT_EQ(problem([](KafkaOptions&) {}), "none");
    EXPECT_THAT(problem([](KafkaOptions& o) { o.brokers = ""; }), HasSubstr("no broker"));
    EXPECT_THAT(problem([](KafkaOptions& o) { o.prefix = "a b"; }), HasSubstr("'a b'"));
    EXPECT_THAT(problem([](KafkaOptions& o) { o.group = ""; }), HasSubstr("group"));
    EXPECT_THAT(problem([](KafkaOptions& o) { o.layers = {}; }), HasSubstr("layer"));
    EXPECT_THAT(problem([](KafkaOptions& o) { o.layers = {2s, 1s}; }), HasSubstr("ascend"));
    EXPECT_THAT(problem([](KafkaOptions& o) { o.layers = {1s, 1s}; }), HasSubstr("ascend"));
    EXPECT_THAT(problem([](KafkaOptions& o) { o.session_timeout = 1ms; }), HasSubstr("1 ms"));
    EXPECT_THAT(problem([](KafkaOptions& o) { o.hold_max = 0; }), HasSubstr("hold_max"));
    EXPECT_THAT(problem([](KafkaOptions& o) { o.message_max = 1; }), HasSubstr("message_max"));
    EXPECT_THAT(problem([](KafkaOptions& o) { o.prefix = std::string(61, 'a'); }), HasSubstr("60"));
    EXPECT_THAT(problem([](KafkaOptions& o) { o.layers = {0s, 1s}; }), HasSubstr("from 1 ms"));
    EXPECT_THAT(problem([](KafkaOptions& o) { o.session_timeout = 1h; }), HasSubstr("30 min"));
    EXPECT_THAT(problem([](KafkaOptions& o) { o.hold_max = 100'001; }), HasSubstr("100001"));
    EXPECT_THAT(
        problem([](KafkaOptions& o) { o.message_max = 200'000'000; }), HasSubstr("200000000")
    );
}

}  // namespace pawl::queue
