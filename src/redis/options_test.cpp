#include "src/redis/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace pawl::redis {
namespace {

std::string refusal_of(const std::string& url) {
    try {
        options_of_url(url);
    } catch (const std::invalid_argument& refused) {
        return refused.what();
    }
    return "it was taken";
}

TEST(RedisUrlTest, each_part_of_the_url_is_read) {
    const auto options = options_of_url(
        "redis://ann:s%40cret@redis.example:6380/3?sidekiq=8&connect_timeout_ms=500"
        "&command_timeout_ms=700"
    );

    EXPECT_EQ(options.host, "redis.example");
    EXPECT_EQ(options.port, 6380);
    EXPECT_EQ(options.user, "ann");
    EXPECT_EQ(options.password, "s@cret");
    EXPECT_EQ(options.database, 3);
    EXPECT_EQ(options.times, SidekiqTimes::milliseconds);
    EXPECT_EQ(options.connect_timeout, 500ms);
    EXPECT_EQ(options.command_timeout, 700ms);
    EXPECT_EQ(options.place(), "redis.example:6380");
}

TEST(RedisUrlTest, a_host_is_enough) {
    const auto options = options_of_url("redis://localhost");

    EXPECT_EQ(options.port, 6379);
    EXPECT_EQ(options.database, 0);
    EXPECT_TRUE(options.password.empty());
    EXPECT_EQ(options.times, SidekiqTimes::seconds);
    EXPECT_EQ(options_of_url("redis://h/?sidekiq=7").times, SidekiqTimes::seconds);
    EXPECT_EQ(options_of_url("redis://:secret@h").password, "secret");
    EXPECT_EQ(options_of_url("redis://[::1]:7").place(), "[::1]:7");
}

TEST(RedisUrlTest, errors_never_contain_the_password) {
    struct Case {
        std::string url;
        std::string why;
    };
    for (const auto& [url, why] : std::initializer_list<Case>{
             {"rediss://u:secret@h", "stunnel"},
             {"http://u:secret@h", "redis://[user:password@]host"},
             {"redis://", "no host"},
             {"redis://u:secret@h:0", "port is 0"},
             {"redis://u:secret@h:99999", "port"},
             {"redis://u:secret@h/first", "'first', which is not a number"},
             {"redis://u:secret@h/-1", "database is -1"},
             {"redis://u@h", "without a password"},
             {"redis://u:secret@h/1000001", "database is 1000001"},
             {"redis://u:secret@h/1x", "'1x', which is not a number"},
             {"redis://u:secret@h/0#part", "redis://[user:password@]host"},
             {"redis://u:secret@h?sidekiq=9", "5 to 8"},
             {"redis://u:secret@h?sidekiq=4", "5 to 8"},
             {"redis://u:secret@h?timeout=9", "timeout is not known"},
             {"redis://u:secret@h?command_timeout_ms=0", "10 to 60000"},
             {"redis://u:secret@h?command_timeout_ms=60001", "command_timeout_ms is 60001 ms"},
             {"redis://u:secret@h?connect_timeout_ms=9", "connect_timeout_ms is 9 ms"},
             {"redis://u:secret@h?connect_timeout_ms=soon", "not a number"}}) {
        EXPECT_THAT(refusal_of(url), ::testing::HasSubstr(why)) << url;
        EXPECT_THAT(refusal_of(url), ::testing::Not(::testing::HasSubstr("secret"))) << url;
    }
}

TEST(RedisUrlTest, options_outside_the_url_have_limits_too) {
    const auto problem = [](auto change) {
        Options options{.host = "h"};
        change(options);
        return options.problem().value_or("none");
    };

    EXPECT_EQ(problem([](Options&) {}), "none");
    EXPECT_EQ(problem([](Options& o) { o.host = ""; }), "the host is empty");
    EXPECT_EQ(problem([](Options& o) { o.idle_max = -1; }), "idle_max is -1: 0 to 1000");
    EXPECT_EQ(problem([](Options& o) { o.idle_max = 1'001; }), "idle_max is 1001: 0 to 1000");
}

}  // namespace
}  // namespace pawl::redis
