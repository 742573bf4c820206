#include "src/engine/timeline.hpp"
#include "src/engine/trace.hpp"
#include "tests/conformance/key_world.hpp"

// The time line of a key: rows that no attempt reads, and that go with their key.
namespace pawl::conformance {

namespace {

using engine::Timeline;
using engine::TimelineEvent;

class KeyEventsTest : public KeyTest {
protected:
    struct Row {
        int attempt;
        std::string events;
    };
    std::vector<Row> rows(std::int64_t id) {
        return read_rows<Row>(*store, sql::list_key_events, id);
    }
    std::vector<int> attempts(std::int64_t id) {
        std::vector<int> found;
        for (const auto& row : rows(id)) found.push_back(row.attempt);
        return found;
    }
    void write(Timeline& timeline, std::int64_t id, int attempt) {
        write_now(*store, [&](Session& session) { timeline.write(session, id, attempt); });
        timeline.end(true);
    }
    static TimelineEvent event(const char* what) { return {.at = TimePoint{0ms}, .what = what}; }
};
PAWL_ON_EACH_STORE(KeyEventsTest);

}  // namespace

TEST_P(KeyEventsTest, each_transaction_writes_a_row_and_none_without_an_event) {
    const auto id = open_key("hash");
    Timeline timeline;
    timeline.add(event("claimed"));
    write(timeline, id, 1);
    write(timeline, id, 1);
    timeline.add(event("called"));
    timeline.add(event("answered"));
    write(timeline, id, 1);

    const auto found = rows(id);
    ASSERT_EQ(found.size(), 2);
    EXPECT_EQ(
        found[0].events, R"({"events":[{"at":"1970-01-01T00:00:00.000Z","what":"claimed"}]})"
    );
    EXPECT_NE(found[1].events.find("\"called\""), std::string::npos);
    EXPECT_NE(found[1].events.find("\"answered\""), std::string::npos);
}

TEST_P(KeyEventsTest, a_transaction_that_is_rolled_back_leaves_what_happened_outside_of_it) {
    const auto id = open_key("hash");
    Timeline timeline;
    timeline.add(event("called"));
    timeline.keep();
    timeline.begin();
    timeline.add(event("phase"));
    timeline.end(false);
    timeline.begin();
    timeline.add(event("released"));
    write(timeline, id, 1);

    const auto found = rows(id);
    ASSERT_EQ(found.size(), 1);
    EXPECT_NE(found[0].events.find("\"called\""), std::string::npos);
    EXPECT_EQ(found[0].events.find("\"phase\""), std::string::npos);
    EXPECT_NE(found[0].events.find("\"released\""), std::string::npos);
}

// A commit without an answer may have written its row: the next one has another number.
TEST_P(KeyEventsTest, a_commit_without_an_answer_does_not_fail_the_next_one) {
    const auto id = open_key("hash");
    Timeline timeline;
    timeline.add(event("called"));
    timeline.keep();
    write_now(*store, [&](Session& session) { timeline.write(session, id, 1); });
    timeline.end(false);
    write(timeline, id, 1);

    EXPECT_EQ(rows(id).size(), 2);
}

TEST_P(KeyEventsTest, a_transaction_that_writes_twice_writes_each_event_once) {
    const auto id = open_key("hash");
    Timeline timeline;
    timeline.begin();
    write_now(*store, [&](Session& session) {
        timeline.add(event("taken-over"));
        timeline.write(session, id, 1);
        timeline.write(session, id, 1);
        timeline.add(event("attention"));
        timeline.write(session, id, 1);
    });
    timeline.end(true);
    timeline.add(event("settled"));
    write(timeline, id, 2);

    const auto found = rows(id);
    ASSERT_EQ(found.size(), 3);
    EXPECT_EQ(found[1].events.find("taken-over"), std::string::npos);
    EXPECT_EQ(found[2].events.find("attention"), std::string::npos);
}

TEST_P(KeyEventsTest, a_row_that_an_older_server_left_is_no_obstacle) {
    const auto id = open_key("hash");
    run(sql::insert_key_events, id, 1, 0, R"({"events":[]})");
    Timeline timeline;
    timeline.add(event("claimed"));
    write(timeline, id, 1);

    // PostgreSQL has both (ADR 41), SQLite only the new one.
    std::string all;
    for (const auto& row : rows(id)) all += row.events;
    EXPECT_NE(all.find("\"claimed\""), std::string::npos);
}

TEST_P(KeyEventsTest, a_key_that_fails_for_days_keeps_its_first_and_its_last_attempts) {
    const auto id = open_key("hash");
    const auto other = open_key("other");
    for (int attempt = 1; attempt <= 70; ++attempt) {
        Timeline timeline;
        timeline.add(event("released"));
        write(timeline, id, attempt);
        Timeline of_other;
        of_other.add(event("released"));
        if (attempt < 20) write(of_other, other, attempt);
    }

    const auto found = attempts(id);
    ASSERT_EQ(found.size(), Timeline::first_attempts + Timeline::last_attempts);
    EXPECT_EQ(found[9], 10);
    EXPECT_EQ(found[10], 21);
    EXPECT_EQ(found.back(), 70);
    EXPECT_EQ(attempts(other).size(), 19);
}

TEST_P(KeyEventsTest, events_and_their_texts_have_a_limit) {
    const auto id = open_key("hash");
    Timeline timeline;
    for (std::size_t i = 0; i < Timeline::events_max + 7; ++i) {
        auto one = event("called");
        one.detail = std::string(299, 'x') + "\xc3\xbc" + std::string(2'000, 'y');
        timeline.add(std::move(one));
    }
    write(timeline, id, 1);

    const auto text = rows(id).at(0).events;
    EXPECT_NE(text.find("\"7 events after this one were dropped\""), std::string::npos);
    EXPECT_NE(text.find("\"" + std::string(299, 'x') + "...\""), std::string::npos);
    EXPECT_LT(text.size(), Timeline::events_max * (Timeline::detail_max + 100));
}

// Its first event has the trace of the attempt; later ones have none.
TEST_P(KeyEventsTest, the_trace_of_the_last_attempt_is_found_by_the_hash_of_its_key) {
    const auto id = open_key("hash");
    open_key("other");
    const auto trace_of = [&](const char* hash) {
        return read_now(*store, [&](Session& session) {
            const auto found = engine::find_trace(session, hash);
            return found ? std::string{found->span_id()} : "none";
        });
    };
    EXPECT_EQ(trace_of("hash"), "none");
    for (const auto attempt : {1, 2}) {
        Timeline timeline;
        auto begin = event(attempt == 1 ? "claimed" : "taken-over");
        begin.trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-111111111111111" +
                      std::to_string(attempt) + "-01 a=1";
        timeline.add(std::move(begin));
        write(timeline, id, attempt);
        timeline.add(event("called"));
        write(timeline, id, attempt);
    }

    EXPECT_EQ(trace_of("hash"), "1111111111111112");
    EXPECT_EQ(trace_of("other"), "none");
    EXPECT_EQ(trace_of("unknown"), "none");
}

TEST_P(KeyEventsTest, they_are_deleted_with_their_keys) {
    const auto id = open_key("hash");
    const auto other = open_key("other");
    for (const auto one : {id, other}) {
        Timeline timeline;
        timeline.add(event("claimed"));
        write(timeline, one, 1);
    }

    run(sql::delete_key_events, R"({"keys":[{"id":)" + std::to_string(id) + "}]}");

    EXPECT_TRUE(rows(id).empty());
    EXPECT_EQ(rows(other).size(), 1);
}

}  // namespace pawl::conformance
