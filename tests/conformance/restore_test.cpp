#include "src/engine/installation.hpp"
#include "src/ops/marker.hpp"
#include "tests/conformance/key_world.hpp"

// The mark of how far a database has come, and the epochs opened by restores (docs/adr/0022; issue
// 16, number 4).
namespace pawl::conformance {

namespace {

class RestoreTest : public KeyTest {
protected:
    struct Mark {
        std::int64_t number{};
        TimePoint at{};
        std::int64_t key_id{};
        std::int64_t calls{};
    };
    struct Found {
        std::int64_t number{};
        TimePoint at{};
        std::int64_t key_id{};
        std::int64_t calls{};
        std::int64_t highest_key{};
    };
    Mark advance(TimePoint at, std::int64_t calls) {
        return write_now(*store, [&](Session& session) {
            return rows<Mark>(session, sql::advance_mark, at, calls).at(0);
        });
    }
    int open_epoch(TimePoint lost_since) {
        return write_now(*store, [&](Session& session) {
            return ops::open_epoch(
                session,
                {.lost_since = lost_since,
                 .keys_until = now() + 1h,
                 .by = "ann",
                 .detail = "the disk failed"}
            );
        });
    }
    engine::Installation epochs() {
        return read_now(*store, [&](Session& session) {
            engine::Installation found;
            engine::read_epochs(session, found);
            return found;
        });
    }
};
PAWL_ON_EACH_STORE(RestoreTest);

}  // namespace

TEST_P(RestoreTest, a_mark_only_grows) {
    const auto key = open_key("hash");

    const auto first = advance(now(), 3);
    const auto second = advance(now() - 1h, 2);  // By a clock that was set back.

    EXPECT_EQ(first.key_id, key);
    EXPECT_EQ(second.number, first.number + 1);
    EXPECT_EQ(second.at, first.at);
    EXPECT_EQ(second.key_id, key);
    EXPECT_EQ(second.calls, first.calls + 2);
    const auto found = read_rows<Found>(*store, sql::find_mark).at(0);
    EXPECT_EQ(found.number, second.number);
    EXPECT_EQ(found.highest_key, key);
    EXPECT_EQ(found.calls, second.calls);
}

TEST_P(RestoreTest, each_restore_opens_an_epoch_of_its_own) {
    EXPECT_EQ(epochs().epoch, 1);
    const auto key = open_key("hash");

    EXPECT_EQ(open_epoch(now() - 2h), 2);
    EXPECT_EQ(open_epoch(now() - 1h), 3);

    const auto found = epochs();
    EXPECT_EQ(found.epoch, 3);
    ASSERT_EQ(found.lost.size(), 2);
    EXPECT_EQ(found.lost[0].since, now() - 2h);
    EXPECT_EQ(found.lost[1].since, now() - 1h);
    EXPECT_EQ(found.lost[1].keys_until, now() + 1h);
    EXPECT_EQ(found.lost[1].last_key_id, key);
}

// The lost time may have carried it out. That a call happened stays true, as does a person's no.
TEST_P(RestoreTest, a_decision_of_the_backup_that_a_call_did_not_happen_is_dropped) {
    const auto decided = [&](const std::string& decision) {
        const auto id = open_key(decision);
        to_attention(id, 1);
        const auto none = std::optional<std::string>{};
        EXPECT_EQ(
            run(sql::request_settlement, id, 1, decision, none, none, "ann", "note", now()), 1
        );
        return id;
    };
    const auto happened = decided("happened");
    const auto given_up = decided("give-up");
    const auto not_happened = decided("did-not-happen");

    open_epoch(now() - 1h);

    EXPECT_EQ(run(sql::undo_settlement, happened, 1), 1);
    EXPECT_EQ(run(sql::undo_settlement, given_up, 1), 1);
    EXPECT_EQ(run(sql::undo_settlement, not_happened, 1), 0) << "there is no decision";
}

}  // namespace pawl::conformance
