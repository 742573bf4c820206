#include "src/page/sessions.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pawl::page {
namespace {

using namespace std::chrono_literals;

class SessionsTest : public ::testing::Test {
protected:
    TimePoint now{TimePoint{} + std::chrono::hours{1'000'000}};
    Sessions sessions{base::system_random()};
};

TEST_F(SessionsTest, end_after_half_an_hour_without_a_use) {
    const auto session = sessions.begin("ann", "hash", now);
    now += Sessions::idle_max;
    ASSERT_TRUE(sessions.find(session.id, now));
    now += Sessions::idle_max;
    ASSERT_TRUE(sessions.find(session.id, now));
    EXPECT_FALSE(sessions.find(session.id, now + Sessions::idle_max + 1ms));
    EXPECT_FALSE(sessions.find(session.id, now));
}

TEST_F(SessionsTest, end_after_twelve_hours_of_use) {
    const auto session = sessions.begin("ann", "hash", now);
    for (auto at = now; at <= now + Sessions::age_max; at += 20min)
        EXPECT_TRUE(sessions.find(session.id, at));
    EXPECT_FALSE(sessions.find(session.id, now + Sessions::age_max + 1ms));
}

TEST_F(SessionsTest, a_message_is_shown_once) {
    const auto session = sessions.begin("ann", "hash", now);
    sessions.tell(session.id, "done");
    EXPECT_EQ(sessions.find(session.id, now)->message, "done");
    EXPECT_EQ(sessions.find(session.id, now)->message, "");
}

TEST_F(SessionsTest, one_more_than_the_limit_ends_the_one_unused_for_longest) {
    const auto first = sessions.begin("ann", "hash", now);
    const auto second = sessions.begin("bob", "hash", now + 1s);
    for (std::size_t i = 2; i < Sessions::count_max; ++i)
        sessions.begin("eve " + std::to_string(i % 100), "hash", now + 2s);
    ASSERT_TRUE(sessions.find(first.id, now + 3s));
    sessions.begin("joe", "hash", now + 4s);
    EXPECT_TRUE(sessions.find(first.id, now + 5s));
    EXPECT_FALSE(sessions.find(second.id, now + 5s));
}

TEST_F(SessionsTest, of_one_operator_only_their_own_sessions_end) {
    const auto anns = sessions.begin("ann", "hash", now);
    const auto first = sessions.begin("bob", "hash", now + 1s);
    for (std::size_t i = 0; i < Sessions::of_name_max; ++i) sessions.begin("bob", "hash", now + 2s);
    EXPECT_TRUE(sessions.find(anns.id, now + 3s));
    EXPECT_FALSE(sessions.find(first.id, now + 3s));
}

TEST_F(SessionsTest, an_ended_session_is_gone_and_ids_differ) {
    const auto first = sessions.begin("ann", "hash", now);
    const auto second = sessions.begin("ann", "hash", now);
    EXPECT_NE(first.id, second.id);
    EXPECT_NE(first.form_token, second.form_token);
    sessions.end(first.id);
    EXPECT_FALSE(sessions.find(first.id, now));
    EXPECT_TRUE(sessions.find(second.id, now));
}

}  // namespace
}  // namespace pawl::page
