#include "src/base/random.hpp"
#include "src/ops/reaper.hpp"
#include "src/store/postgres/postgres_store.hpp"
#include "tests/conformance/store_world.hpp"
#include "tests/postgres/interleaved.hpp"

#include <gmock/gmock.h>

#include <set>
#include <string>

// The reaper's batch of three keys, one of which, 'h', is in use elsewhere, in every order: a key
// in use is not removed, the others are, and nothing is lost.
namespace pawl::interleaving::reaper_interleaving_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Keep = EngineSteps::Keep;
using Knows = EngineSteps::Knows;

class ReaperBatch : public Interleaved {
protected:
    ReaperBatch() {
        both_.monitor.now("CREATE TABLE held (key_id BIGINT REFERENCES pawl_idempotency_keys)");
        before_all_ = "DELETE FROM held;";
    }
    static std::string due_key(const std::string& hash) {
        return "WITH made AS (INSERT INTO pawl_key_registry (hash) VALUES ('" + hash +
               "') RETURNING id) INSERT INTO pawl_idempotency_keys (id, hash, tenant, account, "
               "idempotency_key, operation, request_method, request_path, origin, fingerprint, "
               "secret_version, params, status, attempt, recovery_point, recovery_data, "
               "response_status, response_type, response_headers, response_body, created_at, "
               "last_run_at, finished_at, expires_at) SELECT id, '" +
               hash + "', 't', 'a', '" + hash +
               "', 'book_ride', 'POST', '/rides', '::1', 'f', 1, '{}', 'finished', 1, 'finished', "
               "'{}', 201, 't', '[]', 'old', '" +
               lease_over + "', '" + lease_over + "', '" + lease_over + "', '" + lease_over +
               "' FROM made;";
    }
    // Between two others, so that each half has it together with one of them.
    static std::string among_others(const std::string& key) {
        return due_key("a") + key + due_key("b");
    }
    void explore_batch(
        const std::string& key, const Steps& first, const std::function<void()>& check
    ) {
        explore(among_others(key), first, engine_.reap(), [&] {
            EXPECT_TRUE(both_.second.committed("commit"));
            check_others_are_gone();
            EXPECT_EQ(both_.order().find("second:find_keys_to_expire..."), std::string::npos);
            check();
        });
    }
    void check_others_are_gone() {
        const auto left =
            both_.monitor.now("SELECT hash FROM pawl_idempotency_keys WHERE hash <> 'h'");
        const auto expired = both_.monitor.now(
            "SELECT hash FROM pawl_key_registry WHERE hash <> 'h' AND state = 'expired' AND "
            "outcome = "
            "201"
        );
        EXPECT_THAT(left.rows, IsEmpty());
        EXPECT_EQ(expired.rows.size(), 2);
    }
    void check_key_is_whole(const std::string& body) {
        EXPECT_EQ(row_.state, "live");
        EXPECT_EQ(row_.outcome, std::nullopt);
        EXPECT_EQ(row_.status, "finished");
        EXPECT_EQ(row_.body, body);
    }
    void check_key_is_expired() {
        EXPECT_EQ(row_.state, "expired");
        EXPECT_EQ(row_.outcome, "201");
        EXPECT_EQ(row_.key_id, std::nullopt);
    }
    Steps with_key(const std::string& name, const std::string& text) const {
        return {
            engine_.begin(),
            [this, name, text](const Session&) {
                return Statement{name, text, {engine_.key}, {}, false};
            },
            EngineSteps::commit()};
    }
};

INSTANTIATE_TEST_SUITE_P(
    at,
    ReaperBatch,
    ::testing::Values("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"),
    isolation_name
);

TEST_P(ReaperBatch, leaves_a_key_that_is_taken_over) {
    explore_batch(open_key(lease_over), engine_.claim(Knows::the_key), [&] {
        check_winner("2");
        EXPECT_THAT(writes_, ElementsAre("first"));
    });
    EXPECT_EQ(both_.waits(), 0);
}

TEST_P(ReaperBatch, removes_a_key_with_its_answer_or_leaves_it_to_its_keeper) {
    engine_.kept_until = lease_over;
    std::set<bool> taken;
    explore_batch(open_key(lease_runs), engine_.keep(Keep::and_finish), [&] {
        EXPECT_TRUE(both_.first.committed("commit_kept"));
        EXPECT_THAT(writes_, ElementsAre("first"));
        taken.insert(row_.state == "expired");
        if (row_.state == "expired")
            check_key_is_expired();
        else
            check_key_is_whole("first");
    });
    EXPECT_EQ(taken.size(), 2);
    EXPECT_EQ(both_.waits(), 0);
}

// A replay if the claim comes first; a key of its own if it comes after.
TEST_P(ReaperBatch, a_repeat_gets_the_old_answer_or_a_key_of_its_own) {
    std::set<bool> made_anew;
    for (const auto knows : {Knows::nothing, Knows::perhaps})
        explore_batch(finished_key(), engine_.claim(knows), [&] {
            EXPECT_EQ(both_.second.changed("delete_keys"), 3);
            made_anew.insert(won(both_.first));
            if (won(both_.first)) {
                check_winner("1");
                EXPECT_EQ(row_.generation, "1");
                EXPECT_NE(row_.id, engine_.key);
            } else {
                EXPECT_EQ(found_by(both_.first).as, As::finished);
                check_key_is_expired();
            }
        });
    EXPECT_EQ(made_anew.size(), 2);
}

TEST_P(ReaperBatch, leaves_a_key_that_is_made_anew) {
    explore_batch(expired_key(), engine_.claim(Knows::the_key), [&] {
        check_winner("1");
        EXPECT_EQ(row_.generation, "1");
        EXPECT_EQ(row_.state, "live");
    });
    EXPECT_EQ(both_.waits(), 0);
}

TEST_P(ReaperBatch, is_shared_with_another_reaper_and_each_key_goes_once) {
    explore(among_others(finished_key()), engine_.reap("2"), engine_.reap("2"), [&] {
        EXPECT_TRUE(both_.first.committed("commit") && both_.second.committed("commit"));
        EXPECT_EQ(both_.first.changed("delete_keys") + both_.second.changed("delete_keys"), 3);
        check_others_are_gone();
        check_key_is_expired();
    });
    EXPECT_EQ(both_.waits(), 0) << "the second takes other keys";
}

// Another transaction locks it, as an operator's might.
TEST_P(ReaperBatch, skips_a_locked_key) {
    std::set<bool> taken;
    const auto locker =
        with_key("lock", "SELECT id FROM pawl_idempotency_keys WHERE id = $1 FOR UPDATE");
    explore_batch(finished_key(), locker, [&] {
        EXPECT_EQ(both_.order().find("second:delete_keys..."), std::string::npos);
        taken.insert(row_.state == "expired");
        if (row_.state == "expired")
            check_key_is_expired();
        else
            check_key_is_whole("old");
    });
    EXPECT_EQ(taken.size(), 2);
}

// Against the advice of the docs: an application's foreign key onto ours is added between the
// reaper's query and its delete.
TEST_P(ReaperBatch, splits_a_batch_if_a_key_is_held_meanwhile) {
    std::set<bool> halved;
    may_end_with_ = {"23503"};
    explore_batch(finished_key(), with_key("hold", "INSERT INTO held VALUES ($1)"), [&] {
        const bool is_held = both_.first.committed("commit");
        halved.insert(is_held && both_.second.told("delete_keys")->state == "23503");
        if (is_held)
            check_key_is_whole("old");
        else
            check_key_is_expired();
    });
    EXPECT_EQ(halved.size(), 2);
}

TEST(ReaperOfAServer, waits_for_no_lock_and_comes_again) {
    const pawl::testing::PostgresDatabase database;
    Connection locker{database.url()};
    for (const auto* migration : sql::migrations::all) locker.now(std::string{migration->postgres});
    locker.now(
        "INSERT INTO pawl_key_registry (hash) SELECT 'hash ' || i FROM generate_series(1, 3) AS i;"
        "INSERT INTO pawl_idempotency_keys (id, hash, tenant, account, idempotency_key, operation, "
        "request_method, request_path, origin, fingerprint, secret_version, params, status, "
        "attempt, recovery_point, recovery_data, response_status, response_headers, created_at, "
        "last_run_at, finished_at, expires_at) SELECT id, hash, 't', 'a', hash, 'book_ride', "
        "'POST', '/rides', '::1', 'f', 1, '{}', 'finished', 1, 'finished', '{}', 201, '[]', "
        "'2027-01-01Z', '2027-01-01Z', '2027-01-01Z', '2027-01-02Z' FROM pawl_key_registry"
    );
    conformance::HandClock clock;
    postgres::PostgresStore store{{.url = database.url()}, clock, base::system_random()};
    ops::Reaper reaper{store, clock, {}};
    locker.now("BEGIN; SELECT 1 FROM pawl_idempotency_keys WHERE hash = 'hash 2' FOR UPDATE");

    const auto beside = reaper.run_once(clock.now());
    locker.now("ROLLBACK");
    const auto behind = reaper.run_once(clock.now());

    EXPECT_EQ(beside.reaped, 2);
    EXPECT_EQ(beside.not_removed, 0);
    EXPECT_EQ(behind.reaped, 1);
    store.stop();
}

}  // namespace
}  // namespace pawl::interleaving::reaper_interleaving_test
