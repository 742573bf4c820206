#include "src/core/server_watch.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace pawl::core::server_watch_test {
namespace {

using namespace std::chrono_literals;

class ServerWatchTest : public ::testing::Test {
protected:
    // Looks each 300 ms at a server that does not beat; returns what the last look found.
    std::vector<SilentServer> look_for(std::chrono::milliseconds time, const ServerRow& row) {
        std::vector<SilentServer> found;
        for (const auto end = now + time; now < end;) {
            now += 300ms;
            found = watch.look({row}, now);
        }
        return found;
    }

    ServerWatch watch{ServerTimes{}};
    ServerWatch::Time now{};
    const ServerRow locked{.id = 7, .beats = 5, .session_lock = 99};
    const ServerRow without_lock{.id = 7, .beats = 5};
};

}  // namespace

TEST_F(ServerWatchTest, a_server_without_a_beat_for_a_second_has_ended_if_its_lock_is_free) {
    EXPECT_TRUE(watch.look({locked}, now).empty());
    EXPECT_TRUE(look_for(900ms, locked).empty());

    const auto silent = look_for(300ms, locked);

    ASSERT_EQ(silent.size(), 1U);
    EXPECT_EQ(silent[0].row.id, 7);
    EXPECT_EQ(silent[0].row.beats, 5);
    EXPECT_EQ(silent[0].row.session_lock, 99);
    EXPECT_EQ(silent[0].silent_for, 1'200ms);
    EXPECT_TRUE(silent[0].only_if_lock_is_free);
}

TEST_F(ServerWatchTest, and_for_ten_seconds_whatever_its_lock) {
    watch.look({without_lock}, now);
    EXPECT_TRUE(look_for(9'900ms, without_lock).empty());

    const auto silent = look_for(300ms, without_lock);

    ASSERT_EQ(silent.size(), 1U);
    EXPECT_FALSE(silent[0].only_if_lock_is_free);
    EXPECT_FALSE(look_for(300ms, locked).at(0).only_if_lock_is_free);
}

TEST_F(ServerWatchTest, a_beat_begins_the_silence_anew) {
    watch.look({locked}, now);
    look_for(900ms, locked);
    auto beaten = locked;
    ++beaten.beats;

    EXPECT_TRUE(look_for(1'200ms, beaten).empty());
    EXPECT_EQ(look_for(300ms, beaten).size(), 1U);
}

TEST_F(ServerWatchTest, a_beat_is_any_change_of_the_count) {
    watch.look({locked}, now);
    look_for(900ms, locked);
    auto restored = locked;  // The database, from a backup.
    --restored.beats;

    EXPECT_TRUE(look_for(900ms, restored).empty());
}

// The database hung, or this process was stopped: the others could not beat either.
TEST_F(ServerWatchTest, a_late_look_adds_two_beats_at_most) {
    watch.look({locked}, now);
    now += 1h;

    EXPECT_TRUE(watch.look({locked}, now).empty());
    EXPECT_TRUE(look_for(300ms, locked).empty());
    EXPECT_EQ(look_for(300ms, locked).at(0).silent_for, 1'200ms);
}

TEST_F(ServerWatchTest, after_a_failed_look_free_locks_tell_nothing_for_ten_seconds) {
    watch.look({locked}, now);
    watch.look_failed(now);

    EXPECT_TRUE(look_for(9'600ms, locked).empty());
    EXPECT_TRUE(look_for(600ms, locked).at(0).silent_for >= 10s);
}

TEST_F(ServerWatchTest, each_server_has_its_own_silence) {
    auto beating = locked;
    beating.id = 8;
    for (int i = 0; i < 10; ++i) {
        now += 300ms;
        ++beating.beats;
        watch.look({locked, beating}, now);
    }
    now += 300ms;
    ++beating.beats;

    const auto silent = watch.look({locked, beating}, now);

    ASSERT_EQ(silent.size(), 1U);
    EXPECT_EQ(silent[0].row.id, 7);
}

TEST_F(ServerWatchTest, an_ended_server_is_forgotten) {
    watch.look({locked}, now);
    look_for(3s, locked);
    watch.look({}, now);

    EXPECT_TRUE(look_for(300ms, locked).empty()) << "a row that is new again";
}

}  // namespace pawl::core::server_watch_test
