#include "apps/rides/pages/ended_sessions.hpp"

#include <pawl/database.hpp>

#include "rides/migrations.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

// Before, a sign-out removed the cookie but not the session (issue 16, number 10).
namespace rides {
namespace {

using namespace std::chrono_literals;

const pawl::TimePoint noon{1'800'000'000s};

TEST(EndedSessions, only_the_ended_session_is_ended) {
    EndedSessions sessions;
    sessions.end({"a", noon});
    sessions.end({"a", noon});

    EXPECT_TRUE(sessions.has_ended({"a", noon}));
    EXPECT_FALSE(sessions.has_ended({"b", noon}));
    EXPECT_EQ(sessions.kept(), 1U);
}

TEST(EndedSessions, expired_sessions_are_forgotten) {
    EndedSessions sessions;
    sessions.end({"old", noon - 12h - 1s});
    sessions.end({"new", noon});

    sessions.forget_begun_before(noon - 12h);

    EXPECT_EQ(sessions.kept(), 1U);
    EXPECT_TRUE(sessions.has_ended({"new", noon}));
}

TEST(EndedSessions, memory_is_bounded_and_no_ended_session_becomes_valid_again) {
    EndedSessions sessions{100};
    for (int n = 0; n < 1'000; ++n) sessions.end({std::to_string(n), noon + n * 1s});

    EXPECT_EQ(sessions.kept(), 100U);
    for (int n = 0; n < 1'000; ++n)
        EXPECT_TRUE(sessions.has_ended({std::to_string(n), noon + n * 1s})) << n;
    EXPECT_FALSE(sessions.has_ended({"of later", noon + 1'000s}));
}

TEST(EndedSessionsInDatabase, a_restart_knows_the_sessions_ended_before) {
    const auto database = pawl::Database::open("memory:");
    database->migrate("rides", sql::migrations::all);
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    {
        EndedSessions before;
        EndedSessionsInDatabase kept{*database, before};
        kept.end({"a", now});
        EXPECT_TRUE(before.has_ended({"a", now}));
        EXPECT_TRUE(before.has_ended({"a", now}));
    }
    EndedSessions after;
    const EndedSessionsInDatabase kept{*database, after};

    EXPECT_TRUE(after.has_ended({"a", now}));
    EXPECT_FALSE(after.has_ended({"b", now}));
}

}  // namespace
}  // namespace rides
