#include "src/redis/failure.hpp"

#include <gtest/gtest.h>

namespace pawl::redis {
namespace {

using Kind = StoreError::Kind;
using Effect = StoreError::Effect;

TEST(RedisFailureTest, errors_that_pass_or_that_an_operator_fixes_are_unavailable_or_full) {
    for (const auto* error :
         {"LOADING Redis is loading the dataset in memory",
          "READONLY You can't write against a read only replica.",
          "MASTERDOWN Link with MASTER is down",
          "BUSY Redis is busy running a script.",
          "NOAUTH Authentication required.",
          "WRONGPASS invalid username-password pair or user is disabled.",
          "ERR invalid password",
          "NOPERM this user has no permissions"}) {
        EXPECT_EQ(failure_of(error).kind, Kind::unavailable) << error;
        EXPECT_EQ(failure_of(error).effect, Effect::none) << error;
    }
    EXPECT_EQ(
        failure_of("OOM command not allowed when used memory > 'maxmemory'.").kind, Kind::full
    );
    EXPECT_EQ(failure_of("MISCONF Redis is configured to save RDB snapshots").kind, Kind::full);
}

TEST(RedisFailureTest, a_script_that_fails_midway_is_in_doubt) {
    for (const auto* error :
         {"WRONGTYPE Operation against a key holding the wrong kind of value",
          "ERR Error running script"}) {
        EXPECT_EQ(failure_of(error).kind, Kind::statement) << error;
        EXPECT_EQ(failure_of(error).effect, Effect::in_doubt) << error;
    }
}

TEST(RedisFailureTest, words_are_compared_whole) {
    EXPECT_TRUE(is_unknown_script("NOSCRIPT No matching script. Please use EVAL."));
    EXPECT_FALSE(is_unknown_script("NOSCRIPTS of yours"));
    EXPECT_EQ(failure_of("BUSYKEY Target key name already exists.").kind, Kind::statement);
    EXPECT_TRUE(is_forbidden("ERR unknown command `CONFIG`, with args beginning with: `GET`"));
    EXPECT_TRUE(is_forbidden("NOPERM this user has no permissions to run the 'config' command"));
    EXPECT_FALSE(is_forbidden("ERR syntax error"));
}

}  // namespace
}  // namespace pawl::redis
