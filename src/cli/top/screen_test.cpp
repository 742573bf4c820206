#include "src/cli/top/screen.hpp"

#include <gmock/gmock.h>

namespace pawl::cli {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const TimePoint now{1'800'000'000s};

Snapshot empty() {
    Snapshot snapshot;
    snapshot.at = now;
    return snapshot;
}

QueueLine queue(std::int64_t ready) {
    QueueLine line;
    line.queue = "mails";
    line.where = "database";
    line.ready = ready;
    return line;
}

TEST(AgeText, has_one_unit_and_never_a_sign) {
    EXPECT_EQ(age_text(-5s), "0 s");
    EXPECT_EQ(age_text(119s), "119 s");
    EXPECT_EQ(age_text(2min), "2 min");
    EXPECT_EQ(age_text(47h), "47 h");
    EXPECT_EQ(age_text(49h), "2 d");
}

TEST(Screen, an_empty_database_has_four_lines) {
    auto snapshot = empty();
    snapshot.stranded = 0;

    EXPECT_THAT(
        lines_of(snapshot, nullptr),
        ElementsAre(
            "keys       0 open, 0 stuck, 0 held, 0 stranded",
            "attention  0",
            "rates      -",
            "retries    0 jobs"
        )
    );
}

TEST(Screen, what_waits_is_shown_with_its_age) {
    auto snapshot = empty();
    snapshot.open = 12;
    snapshot.oldest_open = now - 3min;
    snapshot.attention = {{"in-doubt", 2, now - 1h}, {"stuck", 1, now - 5h}};
    snapshot.retries = {{1, 4, now + 10s}, {3, 2, now + 90s}};

    const auto lines = lines_of(snapshot, nullptr);

    EXPECT_EQ(lines[0], "keys       12 open, 0 stuck, 0 held, ? stranded; oldest 3 min");
    EXPECT_EQ(lines[1], "attention  3: 2 in-doubt, 1 stuck; oldest 5 h");
    EXPECT_EQ(lines[3], "retries    4 in layer 1, 2 in layer 3, next in 10 s");
}

TEST(Screen, rates_come_from_two_snapshots) {
    auto before = empty();
    before.open = 10;
    before.queues.rows = {queue(100)};
    auto after = empty();
    after.at = now + 2s;
    after.open = 13;
    after.new_keys = 7;
    after.queues.rows = {queue(97)};

    const auto lines = lines_of(after, &before);

    EXPECT_EQ(lines[2], "rates      3.5 new/s, 2.0 settled/s, over 2.0 s");
    EXPECT_THAT(lines, Contains(HasSubstr("-1.5")));
}

// The clock of the database may go back between two reads.
TEST(Screen, there_is_no_rate_over_no_time) {
    auto after = empty();
    after.new_keys = 7;
    const auto before = empty();

    EXPECT_EQ(lines_of(after, &before)[2], "rates      -");
}

TEST(Screen, a_key_is_at_work_held_waiting_or_with_a_person) {
    auto snapshot = empty();
    const auto key = [](std::int64_t id, const char* status) {
        Snapshot::OldKey made;
        made.id = id;
        made.created_at = now - 1min;
        made.status = status;
        return made;
    };
    snapshot.oldest = {key(1, "open"), key(2, "open"), key(3, "open"), key(4, "attention")};
    snapshot.oldest[1].lease_until = now + 1s;
    snapshot.oldest[2].held = true;

    const auto lines = lines_of(snapshot, nullptr);

    ASSERT_EQ(lines.size(), 10U);
    EXPECT_THAT(lines[6], HasSubstr("waits"));
    EXPECT_THAT(lines[7], HasSubstr("at work"));
    EXPECT_THAT(lines[8], HasSubstr("held"));
    EXPECT_THAT(lines[9], HasSubstr("needs a person"));
}

// An error's text may come from anywhere.
TEST(Screen, a_stored_text_moves_no_cursor) {
    auto snapshot = empty();
    Snapshot::OldKey key;
    key.error = "\x1b[2Jgone\n";
    snapshot.oldest = {key};

    EXPECT_THAT(lines_of(snapshot, nullptr).back(), HasSubstr(".[2Jgone."));
}

TEST(Screen, lines_are_cut_to_the_terminal_between_characters) {
    EXPECT_THAT(fitted({"one", "two", "three"}, 1, {80, 1}), ElementsAre("two"));
    EXPECT_THAT(fitted({"abcdef"}, 0, {3, 5}), ElementsAre("abc"));
    EXPECT_THAT(fitted({"aä"}, 0, {2, 5}), ElementsAre("a"));
    EXPECT_TRUE(fitted({"one"}, 7, {80, 24}).empty());
}

}  // namespace
}  // namespace pawl::cli
