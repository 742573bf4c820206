#include "apps/rides/pages/ended_sessions.hpp"

#include <pawl/database.hpp>

#include "rides/migrations.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

// Before, a sign-out removed the cookie but not the session (issue 16, number 10).
namespace rides {
namespace {

using namespace std::chrono_literals;

const pawl::TimePoint ended_at{1'800'000'000s};

TEST(EndedSessions, only_the_ended_session_is_ended) {
    EndedSessions sessions;
    sessions.end({"a", ended_at});
    sessions.end({"a", ended_at});

    EXPECT_TRUE(sessions.has_ended({"a", ended_at}));
    EXPECT_FALSE(sessions.has_ended({"b", ended_at}));
    EXPECT_EQ(sessions.kept(), 1U);
}

TEST(EndedSessions, expired_sessions_are_forgotten) {
    EndedSessions sessions;
    sessions.end({"old", ended_at - 12h - 1s});
    sessions.end({"new", ended_at});

    sessions.forget_begun_before(ended_at - 12h);

    EXPECT_EQ(sessions.kept(), 1U);
    EXPECT_TRUE(sessions.has_ended({"new", ended_at}));
}

TEST(EndedSessions, memory_is_bounded_and_no_ended_session_becomes_valid_again) {
    EndedSessions sessions{100};
    for (int n = 0; n < 1'000; ++n) sessions.end({std::to_string(n), ended_at + n * 1s});

    EXPECT_EQ(sessions.kept(), 100U);
    for (int n = 0; n < 1'000; ++n)
        EXPECT_TRUE(sessions.has_ended({std::to_string(n), ended_at + n * 1s})) << n;
    EXPECT_FALSE(sessions.has_ended({"of later", ended_at + 1'000s}));
}

TEST(EndedSessionsInDatabase, a_restart_knows_the_sessions_ended_before) {
    using Servers = EndedSessionsInDatabase::Servers;
    const auto database = pawl::Database::open("memory:");
    database->migrate("rides", sql::migrations::all);
    const auto begun_at =
        std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    {
        EndedSessions before;
        EndedSessionsInDatabase kept{*database, before, Servers::one};
        kept.end({"a", begun_at});
        EXPECT_TRUE(before.has_ended({"a", begun_at}));
        EXPECT_TRUE(before.has_ended({"a", begun_at}));
    }
    EndedSessions after;
    const EndedSessionsInDatabase kept{*database, after, Servers::one};

    EXPECT_TRUE(after.has_ended({"a", begun_at}));
    EXPECT_FALSE(after.has_ended({"b", begun_at}));
}

}  // namespace
}  // namespace rides
