#include "src/core/restore_gap.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pawl::core::restore_gap_test {
namespace {

using namespace std::chrono_literals;

const TimePoint now{10'000'000s};

TEST(CallLostSince, follows_the_table) {
    const RestoreGap hour{
        .since = now - 2h, .keys_until = now + 72h, .last_key_id = 100, .opened = now - 1h};
    const RestoreGap old{.since = now - 500h, .keys_until = now - 1h, .last_key_id = 50};
    struct Case {
        std::string name;
        std::vector<RestoreGap> lost;
        std::int64_t key_id;
        TimePoint now;
        std::optional<TimePoint> since;
    };
    const std::vector<Case> cases{
        {"no restore", {}, 7, now, std::nullopt},
        {"a new key while lost ones may come", {hour}, 101, now, hour.since},
        {"just before the window ends", {hour}, 101, now + 72h - 1ms, hour.since},
        {"when the window has ended", {hour}, 101, now + 72h, std::nullopt},
        {"a key of the restored database", {hour}, 100, now, hour.since},
        {"the same, a year later", {hour}, 100, now + 8'760h, hour.since},
        {"an older restore is over", {old}, 101, now, std::nullopt},
        {"a key of before both", {old, hour}, 50, now, old.since},
        {"a key of between them", {old, hour}, 51, now, hour.since},
        {"whatever their order", {hour, old}, 50, now, old.since},
    };
    for (const auto& c : cases)
        EXPECT_EQ(restore_gap_start(c.lost, c.key_id, c.now), c.since) << c.name;
}

TEST(MayHaveGoneOn, a_call_that_was_recorded_before_the_restore_or_may_repeat_a_lost_one) {
    const RestoreGap hour{
        .since = now - 2h, .keys_until = now + 72h, .last_key_id = 100, .opened = now - 1h};
    const RestoreGap old{.since = now - 500h, .keys_until = now - 1h, .last_key_id = 50};

    EXPECT_FALSE(may_have_gone_on({}, 7, 0, now - 3h));
    EXPECT_TRUE(may_have_gone_on(std::vector{hour}, 100, 0, now - 3h));
    EXPECT_TRUE(may_have_gone_on(std::vector{hour}, 100, 1, now - 2h + 1min)) << "as-of is early";
    EXPECT_FALSE(may_have_gone_on(std::vector{hour}, 100, 0, now)) << "made after the restore";
    EXPECT_TRUE(may_have_gone_on(std::vector{hour}, 101, 0, now)) << "may repeat a lost key";
    EXPECT_FALSE(may_have_gone_on(std::vector{hour}, 101, 1, now)) << "a person has decided";
    EXPECT_FALSE(may_have_gone_on(std::vector{hour}, 101, 0, now + 73h)) << "after the window";
    EXPECT_TRUE(may_have_gone_on(std::vector{old, hour}, 51, 0, now - 3h)) << "between the two";
}

TEST(IsBehind, a_database_is_behind_if_any_number_is_lower) {
    const Mark mark{.number = 5, .at = now, .key_id = 70, .calls = 40};
    auto with = [&](auto change) {
        auto changed = mark;
        change(changed);
        return changed;
    };

    EXPECT_FALSE(is_behind(mark, mark));
    EXPECT_FALSE(is_behind({6, now + 1s, 71, 41}, mark));
    EXPECT_TRUE(is_behind(with([](Mark& m) { --m.number; }), mark));
    EXPECT_TRUE(is_behind(with([](Mark& m) { m.at -= 1ms; }), mark));
    EXPECT_TRUE(is_behind(with([](Mark& m) { --m.key_id; }), mark));
    EXPECT_TRUE(is_behind(with([](Mark& m) { --m.calls; }), mark));
    EXPECT_TRUE(is_behind({6, now + 1s, 70, 39}, mark))
        << "of another life: more marks, fewer calls";
}

}  // namespace
}  // namespace pawl::core::restore_gap_test
