#include "src/redis/durability.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl::redis {
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
    EXPECT_FALSE(warn_of({{}, "yes", "always"}, "h:1"));
    EXPECT_THAT(
        warn_of({{}, "yes", "everysec"}, "h:1")->detail, HasSubstr("appendfsync = everysec")
    );
    EXPECT_THAT(warn_of({{}, "no", "always"}, "h:1")->detail, HasSubstr("appendonly = no"));
    EXPECT_THAT(warn_of({{}, "yes", {}}, "h:1")->detail, HasSubstr("does not say its appendfsync"));
    EXPECT_EQ(warn_of({}, "h:1")->code, "PAWL0012");
}

TEST(RedisSettingsTest, a_field_of_info_is_a_whole_line) {
    constexpr std::string_view info =
        "# Memory\r\nmaxmemory:0\r\nx_maxmemory_policy:no\r\nmaxmemory_policy:allkeys-lru\r\n\r\n";

    EXPECT_EQ(info_field(info, "maxmemory_policy"), "allkeys-lru");
    EXPECT_EQ(info_field(info, "maxmemory"), "0");
    EXPECT_FALSE(info_field(info, "aof_enabled"));
    EXPECT_FALSE(info_field("", "aof_enabled"));
}

TEST(FenceProblem, each_setting_that_loses_an_epoch_is_named_with_what_it_must_be) {
    const Settings right{"noeviction", "yes", "always", "no", "master", "0"};
    struct Case {
        std::string says;
        Settings state;
    };
    auto with = [&](std::optional<std::string> Settings::*setting, std::optional<std::string> is) {
        auto state = right;
        state.*setting = std::move(is);
        return state;
    };
    const Case cases[]{
        {"appendfsync = everysec, and must say always", with(&Settings::appendfsync, "everysec")},
        {"appendonly = no, and must say yes", with(&Settings::appendonly, "no")},
        {"maxmemory-policy = allkeys-lru, and must say noeviction",
         with(&Settings::maxmemory_policy, "allkeys-lru")},
        {"no-appendfsync-on-rewrite = yes, and must say no",
         with(&Settings::no_appendfsync_on_rewrite, "yes")},
        {"role = slave, and must say master", with(&Settings::role, "slave")},
        {"connected_slaves = 1, and must say 0", with(&Settings::connected_slaves, "1")},
        {"does not say its appendfsync", with(&Settings::appendfsync, std::nullopt)},
        {"does not say its connected_slaves", with(&Settings::connected_slaves, std::nullopt)}};

    EXPECT_EQ(fence_problem_of(right, "here:6379"), std::nullopt);
    for (const auto& [says, state] : cases) {
        const auto problem = fence_problem_of(state, "here:6379").value_or("none");
        EXPECT_THAT(problem, HasSubstr(says));
        EXPECT_THAT(problem, HasSubstr("PAWL0030: the Redis at here:6379"));
        EXPECT_THAT(problem, HasSubstr("efficiency leases"));
    }
}

}  // namespace
}  // namespace pawl::redis
