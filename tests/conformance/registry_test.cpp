#include "src/engine/key_row.hpp"
#include "tests/conformance/key_world.hpp"

// What is left of an expired key, and for how long.
namespace pawl::conformance {

namespace {

class RegistryTest : public KeyTest {
protected:
    // A key that was finished, expired and removed: only its registry row is left.
    std::int64_t expired_key(const std::string& hash) {
        const auto id = open_key(hash);
        finish(id, 1, "ride_created", now());
        expire(id);
        return id;
    }
    void expire(std::int64_t id) {
        write_now(*store, [&](Session& session) {
            EXPECT_EQ(change(session, sql::expire_key, id, 201, "/rides/1", now()), 1);
            EXPECT_EQ(change(session, sql::delete_key, id), 1);
        });
    }
    struct Revived {
        std::int64_t id{};
        int generation{};
    };
    std::optional<Revived> re_execute(const std::string& hash) {
        return write_now(*store, [&](Session& session) -> std::optional<Revived> {
            const auto found = rows<Revived>(session, sql::claim_expired_key, hash);
            if (found.empty()) return std::nullopt;
            return found.front();
        });
    }
    std::optional<engine::KeyRow> find(const std::string& hash) {
        return read_now(*store, [&](Session& session) { return engine::find_key(session, hash); });
    }
};
PAWL_ON_EACH_STORE(RegistryTest);

}  // namespace

TEST_P(RegistryTest, an_expired_key_keeps_its_outcome_and_stays_registered) {
    const auto id = expired_key("hash");

    const auto found = find("hash");

    ASSERT_TRUE(found);
    EXPECT_EQ(found->id, id);
    EXPECT_TRUE(found->expired);
    EXPECT_EQ(found->outcome, 201);
    EXPECT_EQ(found->location, "/rides/1");
    EXPECT_FALSE(register_key("hash"));
    EXPECT_EQ(
        read_rows<std::string>(*store, sql::find_key_progress, "hash", "hash").at(0), "expired"
    );
}

TEST_P(RegistryTest, a_row_expires_once_and_keeps_its_first_outcome) {
    const auto id = expired_key("hash");

    EXPECT_EQ(run(sql::expire_key, id, 500, "/elsewhere", now()), 0);

    EXPECT_EQ(find("hash")->outcome, 201);
}

TEST_P(RegistryTest, a_key_that_is_not_settled_is_never_removed) {
    const auto open = open_key("open");
    const auto stuck = open_key("stuck");
    to_attention(stuck, 1);

    EXPECT_EQ(run(sql::delete_key, open), 0);
    EXPECT_EQ(run(sql::delete_key, stuck), 0);
}

TEST_P(RegistryTest, the_reaper_finds_due_keys_oldest_first_up_to_its_limit) {
    const auto second = open_key("second");
    const auto first = open_key("first");
    const auto third = open_key("third");
    const auto for_ever = open_key("for ever");
    open_key("open");
    finish(first, 1, "ride_created", now() + 1h);
    finish(second, 1, "ride_created", now() + 2h);
    finish(third, 1, "ride_created", now() + 3h);
    finish(for_ever, 1, "ride_created");
    struct Found {
        std::int64_t id;
        int status;
        std::string headers;
        std::string expires_at;
    };
    auto due = [&](TimePoint at, int limit, TimePoint from = {}, std::int64_t id = 0) {
        std::vector<std::int64_t> ids;
        write_now(*store, [&](Session& session) {
            for (const auto& found :
                 rows<Found>(session, sql::find_keys_to_expire, at, limit, from, id))
                ids.push_back(found.id);
        });
        return ids;
    };

    EXPECT_EQ(due(now() + 59min, 10), (std::vector<std::int64_t>{}));
    EXPECT_EQ(due(now() + 2h, 10), (std::vector<std::int64_t>{first, second}));
    EXPECT_EQ(due(now() + 9h, 2), (std::vector<std::int64_t>{first, second}));
    EXPECT_EQ(due(now() + 24h * 9'999, 10), (std::vector<std::int64_t>{first, second, third}));
    EXPECT_EQ(due(now() + 9h, 10, now() + 2h, second), (std::vector<std::int64_t>{third}));
    EXPECT_EQ(
        due(now() + 9h, 10, now() + 2h, second - 1), (std::vector<std::int64_t>{second, third})
    );
}

TEST_P(RegistryTest, a_revived_key_has_a_new_id_and_the_next_generation) {
    const auto first = expired_key("hash");
    const auto other = open_key("other");

    const auto revived = re_execute("hash");

    ASSERT_TRUE(revived);
    EXPECT_GT(revived->id, std::max(first, other));
    EXPECT_EQ(revived->generation, 1);
    EXPECT_FALSE(re_execute("hash")) << "it lives: of two who re_execute it, one does";
    EXPECT_FALSE(register_key("hash"));
    EXPECT_GT(register_key("the next"), revived->id);
}

TEST_P(RegistryTest, a_live_key_or_an_unknown_one_is_not_revived) {
    open_key("live");

    EXPECT_FALSE(re_execute("live"));
    EXPECT_FALSE(re_execute("unknown"));
}

TEST_P(RegistryTest, a_row_is_forgotten_when_it_expired_long_enough_ago_and_not_before) {
    expired_key("old");
    clock.advance(24h);
    expired_key("young");
    open_key("live");

    EXPECT_EQ(run(sql::delete_tombstones, now() - 24h, 10), 0);
    EXPECT_EQ(run(sql::delete_tombstones, now() - 24h + 1ms, 10), 1);

    EXPECT_FALSE(find("old"));
    EXPECT_TRUE(find("young"));
    EXPECT_TRUE(find("live"));
    EXPECT_TRUE(register_key("old"));
}

TEST_P(RegistryTest, rows_are_forgotten_oldest_first_up_to_the_limit) {
    for (const auto* hash : {"a", "b", "c"}) {
        expired_key(hash);
        clock.advance(1h);
    }

    EXPECT_EQ(run(sql::delete_tombstones, now(), 2), 2);

    EXPECT_FALSE(find("a"));
    EXPECT_FALSE(find("b"));
    EXPECT_TRUE(find("c"));
}

// An application's rows may keep key ids forever.
TEST_P(RegistryTest, no_id_is_given_twice_even_if_a_revived_key_is_forgotten) {
    expired_key("hash");
    const auto revived = re_execute("hash").value();
    run(sql::insert_key_finished,
        revived.id,
        "hash",
        "tenant",
        "account",
        "key",
        "cancel_ride",
        "DELETE",
        "/rides/1",
        "192.0.2.1",
        "fingerprint",
        1,
        "{}",
        204,
        std::optional<std::string>{},
        "",
        "",
        now(),
        now(),
        1);
    expire(revived.id);
    clock.advance(1h);

    // SQLite keeps the row of the highest id as its counter; PostgreSQL uses a sequence.
    const auto at_once = run(sql::delete_tombstones, now(), 10);
    const auto next = register_key("the next").value();

    EXPECT_GT(next, revived.id);
    EXPECT_EQ(at_once + run(sql::delete_tombstones, now(), 10), 1) << "the count has moved on";
}

}  // namespace pawl::conformance
