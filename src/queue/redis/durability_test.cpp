#include "src/queue/redis/durability.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl::queue::redis {
namespace {

using ::testing::HasSubstr;

TEST(RedisSettingsTest, only_a_redis_that_evicts_nothing_is_accepted) {
    EXPECT_FALSE(refusal_of({"noeviction", {}, {}}, "h:1"));
    EXPECT_THAT(
        *refusal_of({"volatile-lru", {}, {}}, "h:1"),
        HasSubstr("PAWL0011: the Redis at h:1 throws jobs away")
    );
    EXPECT_THAT(*refusal_of({}, "h:1"), HasSubstr("does not say its maxmemory-policy"));
}

TEST(RedisSettingsTest, only_a_redis_that_syncs_each_write_gets_no_remark) {
    EXPECT_FALSE(remark_on({{}, "yes", "always"}, "h:1"));
    EXPECT_THAT(
        remark_on({{}, "yes", "everysec"}, "h:1")->detail, HasSubstr("appendfsync = everysec")
    );
    EXPECT_THAT(remark_on({{}, "no", "always"}, "h:1")->detail, HasSubstr("appendonly = no"));
    EXPECT_THAT(
        remark_on({{}, "yes", {}}, "h:1")->detail, HasSubstr("does not say its appendfsync")
    );
    EXPECT_EQ(remark_on({}, "h:1")->code, "PAWL0012");
}

TEST(RedisSettingsTest, a_field_of_info_is_a_whole_line) {
    constexpr std::string_view info =
        "# Memory\r\nmaxmemory:0\r\nx_maxmemory_policy:no\r\nmaxmemory_policy:allkeys-lru\r\n\r\n";

    EXPECT_EQ(info_field(info, "maxmemory_policy"), "allkeys-lru");
    EXPECT_EQ(info_field(info, "maxmemory"), "0");
    EXPECT_FALSE(info_field(info, "aof_enabled"));
    EXPECT_FALSE(info_field("", "aof_enabled"));
}

}  // namespace
}  // namespace pawl::queue::redis
