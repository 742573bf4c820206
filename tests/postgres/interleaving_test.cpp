#include "src/store/postgres/connection.hpp"
#include "tests/conformance/store_world.hpp"
#include "tests/postgres/interleaved.hpp"

#include <gmock/gmock.h>

#include <set>
#include <string>

// The engine's transactions against each other, in every order: claim, keep, take-over, renewal,
// give-back, reaper. Whatever the order and the isolation, one of the two wins, and its answer
// matches the database.
namespace pawl::interleaving {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Keep = EngineSteps::Keep;
using Knows = EngineSteps::Knows;
using Resumes = EngineSteps::Resumes;

INSTANTIATE_TEST_SUITE_P(
    at,
    Interleaved,
    ::testing::Values("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"),
    isolation_name
);

TEST_P(Interleaved, one_of_two_claims_wins) {
    for (const bool patient : {false, true}) {
        engine_.patient = patient;
        const auto claim = engine_.claim(Knows::nothing);
        explore("", claim, claim, [&] {
            check_winner("1");
            EXPECT_EQ(row_.id, made_by(winner()));
            EXPECT_THAT(writes_, ElementsAre(winner().name()));
            EXPECT_TRUE(loser().state() == "55P03" || found_by(loser()).as == As::busy);
        });
    }
    EXPECT_GT(both_.waits(), 0);
    EXPECT_EQ(ends_.count("55P03"), 1);
    EXPECT_EQ(ends_.count("40001"), is_read_committed() ? 0 : 1);
}

// Neither waits for an answer; the second claims again, and finds the first.
TEST_P(Interleaved, one_of_two_claims_under_preallocated_ids_wins) {
    engine_.ahead = true;
    const auto claim = engine_.claim(Knows::nothing);
    int lost = 0;
    explore("", claim, claim, [&] {
        check_winner("1");
        EXPECT_EQ(row_.id, made_by(winner()));
        EXPECT_THAT(writes_, ElementsAre(winner().name()));
        EXPECT_FALSE(winner().lost_claim());
        EXPECT_EQ(found_by(loser()).as, As::busy);
        lost += loser().lost_claim() ? 1 : 0;
    });
    EXPECT_GT(both_.waits(), 0);
    EXPECT_GT(lost, 0);
}

TEST_P(Interleaved, claim_under_a_preallocated_id_beside_the_reaper) {
    engine_.ahead = true;
    std::set<bool> made_anew;
    explore(finished_key(), engine_.claim(Knows::nothing), engine_.reap(), [&] {
        EXPECT_TRUE(both_.first.lost_claim());
        EXPECT_EQ(both_.second.changed("delete_keys"), 1);
        made_anew.insert(won(both_.first));
        EXPECT_EQ(row_.state, won(both_.first) ? "live" : "expired");
        EXPECT_EQ(writes_.size(), won(both_.first) ? 1 : 0);
    });
    explore(expired_key(), engine_.claim(Knows::nothing), engine_.forget(), [&] {
        check_winner("1");
        EXPECT_EQ(row_.id, made_by(both_.first));
    });
    EXPECT_FALSE(made_anew.empty());
}

// The key is never live without its row, and a key made anew differs from the old one.
TEST_P(Interleaved, claim_beside_the_reaper_gets_the_old_answer_or_a_key_of_its_own) {
    std::set<bool> made_anew;
    for (const auto knows : {Knows::nothing, Knows::perhaps})
        explore(finished_key(), engine_.claim(knows), engine_.reap(), [&] {
            EXPECT_TRUE(both_.second.committed("commit"));
            EXPECT_EQ(both_.second.changed("delete_keys"), 1);
            made_anew.insert(won(both_.first));
            if (won(both_.first)) {
                check_winner("1");
                EXPECT_EQ(row_.generation, "1");
                EXPECT_NE(row_.id, engine_.key);
                EXPECT_THAT(writes_, ElementsAre("first"));
            } else {
                EXPECT_EQ(found_by(both_.first).as, As::finished);
                EXPECT_EQ(row_.state, "expired");
                EXPECT_EQ(row_.outcome, "201");
                EXPECT_THAT(writes_, IsEmpty());
            }
        });
    EXPECT_EQ(made_anew.size(), 2);
}

TEST_P(Interleaved, one_of_two_reapers_removes_the_key) {
    explore(finished_key(), engine_.reap(), engine_.reap(), [&] {
        EXPECT_TRUE(both_.first.committed("commit") && both_.second.committed("commit"));
        EXPECT_EQ(both_.first.changed("delete_keys") + both_.second.changed("delete_keys"), 1);
        EXPECT_EQ(row_.state, "expired");
        EXPECT_EQ(row_.outcome, "201");
    });
    EXPECT_EQ(both_.waits(), 0) << "the second takes other keys";
}

TEST_P(Interleaved, one_of_two_claims_makes_an_expired_key_anew) {
    const auto claim = engine_.claim(Knows::the_key);
    explore(expired_key(), claim, claim, [&] {
        check_winner("1");
        EXPECT_EQ(row_.id, made_by(winner()));
        EXPECT_EQ(row_.generation, "1");
        EXPECT_THAT(writes_, ElementsAre(winner().name()));
    });
    EXPECT_GT(both_.waits(), 0);
}

// It may be forgotten before; then it is a new one.
TEST_P(Interleaved, key_made_anew_is_not_forgotten) {
    explore(expired_key(), engine_.claim(Knows::the_key), engine_.forget(), [&] {
        EXPECT_TRUE(both_.second.committed("commit"));
        EXPECT_TRUE(won(both_.first) || both_.second.changed("delete_tombstones") == 1);
        EXPECT_EQ(rows_.size(), won(both_.first) ? 1 : 0);
        EXPECT_EQ(row_.id, won(both_.first) ? made_by(both_.first) : Text{});
        EXPECT_NE(row_.state, "expired");
    });
    EXPECT_GT(both_.waits(), 0);
}

TEST_P(Interleaved, result_is_kept_by_the_attempt_or_by_the_one_that_took_over) {
    const auto taker =
        engine_.claim(Knows::the_key, Resumes::at_a_call) + engine_.keep(Keep::and_finish, won);
    explore(open_key(lease_over), engine_.keep(Keep::and_finish), taker, [&] {
        const auto& keeper = won(both_.second) ? both_.second : both_.first;
        EXPECT_TRUE(keeper.committed("commit_kept"));
        EXPECT_THAT(writes_, ElementsAre(keeper.name()));
        EXPECT_EQ(row_.status, "finished");
        EXPECT_EQ(row_.body, keeper.name());
        EXPECT_EQ(row_.attempt, EngineSteps::attempt_of(keeper));
        EXPECT_EQ(both_.first.state(), won(both_.second) ? "22012" : "");
    });
    EXPECT_GT(both_.waits(), 0);
    EXPECT_EQ(ends_.count("22012"), 1);
}

TEST_P(Interleaved, point_is_reached_once_though_both_write_the_same_account) {
    engine_.shared = true;
    const auto taker = engine_.claim(Knows::the_key, Resumes::at_a_phase);
    explore(open_key(lease_over), engine_.keep(Keep::and_move), taker, [&] {
        const auto& mover = won(both_.second) ? both_.second : both_.first;
        EXPECT_THAT(writes_, ElementsAre(mover.name()));
        EXPECT_EQ(row_.point, "charge_created");
        EXPECT_EQ(row_.attempt, won(both_.second) ? "2" : "1");
        EXPECT_EQ(row_.lease, lease_of(mover));
        EXPECT_EQ(both_.first.state(), won(both_.second) ? "22012" : "");
    });
    EXPECT_EQ(ends_.count("40P01"), 1);
}

TEST_P(Interleaved, renewal_does_not_outlast_what_is_kept) {
    for (const auto how : {Keep::and_finish, Keep::and_move})
        explore(open_key(lease_runs), engine_.keep(how), engine_.alone(EngineSteps::renewal), [&] {
            EXPECT_TRUE(both_.first.committed("commit_kept"));
            EXPECT_TRUE(both_.second.committed("commit"));
            EXPECT_EQ(row_.attempt, "1");
            EXPECT_EQ(row_.lease, how == Keep::and_move ? Text{lease_of(both_.first)} : Text{});
        });
    EXPECT_GT(both_.waits(), 0);
}

TEST_P(Interleaved, lease_is_renewed_or_taken_over) {
    const auto taker = engine_.claim(Knows::the_key, Resumes::at_a_call);
    explore(open_key(lease_over), engine_.alone(EngineSteps::renewal), taker, [&] {
        const bool renewed = both_.first.changed("renew_lease") == 1;
        EXPECT_TRUE(both_.first.committed("commit"));
        EXPECT_NE(renewed, won(both_.second));
        EXPECT_EQ(row_.attempt, renewed ? "1" : "2");
        EXPECT_EQ(row_.lease, renewed ? renewed_lease : lease_of(both_.second));
    });
    EXPECT_GT(both_.waits(), 0);
}

// rescue_jobs finds the job by its index before it waits for the row; its outer conditions are for
// the lease that was renewed meanwhile.
TEST_P(Interleaved, a_job_is_renewed_or_rescued) {
    before_all_ = "DELETE FROM pawl_jobs;";
    const auto job =
        "INSERT INTO pawl_jobs (id, jid, queue, kind, args, state, run_at, attempt, "
        "lease_until, created_at) VALUES (60, 'j', 'q', 'k', '{}', 'running', '" +
        std::string{lease_over} + "', 1, '" + lease_over + "', '" + lease_over + "');";
    const auto in_transaction = [this](const Statement& statement) {
        return Steps{
            engine_.begin(), [statement](const Session&) { return statement; }, engine_.commit()};
    };
    const auto renewal = in_transaction(of(sql::renew_job, {"60", "1", renewed_lease}));
    const auto rescue = in_transaction(of(sql::rescue_jobs, {now, lease_bound, lease_over}));
    explore(job, renewal, rescue, [&] {
        const bool renewed = both_.first.changed("renew_job") == 1;
        EXPECT_NE(renewed, both_.second.changed("rescue_jobs") == 1);
        const auto state = both_.monitor.now("SELECT state FROM pawl_jobs").rows[0][0];
        EXPECT_EQ(state, renewed ? "running" : "ready");
    });
    EXPECT_GT(both_.waits(), 0);
}

TEST_P(Interleaved, lease_that_was_given_back_is_not_renewed) {
    const auto giver = engine_.alone(EngineSteps::release);
    explore(open_key(lease_runs), engine_.alone(EngineSteps::renewal), giver, [&] {
        EXPECT_TRUE(both_.second.committed("commit"));
        EXPECT_EQ(row_.lease, std::nullopt);
    });
    EXPECT_GT(both_.waits(), 0);
}

TEST_P(Interleaved, one_of_two_take_overs_gets_the_key) {
    for (const bool patient : {false, true}) {
        engine_.patient = patient;
        const auto resumes = patient ? Resumes::at_a_call : Resumes::at_a_phase;
        const auto taker = engine_.claim(Knows::the_key, resumes);
        explore(open_key(lease_over), taker, taker, [&] { check_winner("2"); });
    }
    EXPECT_GT(both_.waits(), 0);
    EXPECT_EQ(ends_.count("55P03"), 1);
}

TEST_P(Interleaved, one_of_two_takers_keeps_the_result) {
    const auto taker =
        engine_.claim(Knows::the_key, Resumes::at_a_call) + engine_.keep(Keep::and_finish, won);
    explore(open_key(lease_over), taker, taker, [&] {
        EXPECT_NE(won(both_.first), won(both_.second));
        EXPECT_THAT(writes_, ElementsAre(winner().name()));
        EXPECT_EQ(row_.attempt, "2");
        EXPECT_EQ(row_.body, winner().name());
    });
    EXPECT_GT(both_.waits(), 0);
}

// The earlier attempt moves the key on and gives it back between the taker's query and its
// take-over. The attempt number is unchanged: the recovery point refuses the take-over.
TEST_P(Interleaved, taker_goes_on_from_the_point_that_the_key_is_at) {
    const auto mover = engine_.keep(Keep::and_move) + engine_.alone(EngineSteps::give_back_moved);
    const auto taker = engine_.claim(Knows::the_key, Resumes::at_a_call);
    explore(open_key(lease_over), mover, taker, [&] {
        const bool moved = both_.first.committed("commit_kept");
        EXPECT_EQ(row_.point, moved ? "charge_created" : "ride_created");
        EXPECT_EQ(row_.attempt, won(both_.second) ? "2" : "1");
        EXPECT_TRUE(moved || won(both_.second));
        EXPECT_TRUE(!won(both_.second) || found_by(both_.second).point == row_.point);
        EXPECT_TRUE(won(both_.second) || !row_.lease || *row_.lease > now);
    });
}

// --- In transactions that are shared with other phases, which all write one account ---

using Neighbour = EngineSteps::Neighbour;

class Shared : public Interleaved {
protected:
    Shared() {
        engine_.shared = true;
        engine_.shares = true;
    }
    template <class Explore>
    static void with_neighbours(Explore explore_with) {
        for (const auto of_first : {Neighbour::before, Neighbour::behind})
            explore_with(of_first, Neighbour::behind);
    }
};

INSTANTIATE_TEST_SUITE_P(
    at, Shared, ::testing::Values("READ COMMITTED", "REPEATABLE READ"), isolation_name
);

TEST_P(Shared, one_of_two_claims_wins) {
    for (const bool ahead : {false, true}) {
        engine_.ahead = ahead;
        const auto claim = engine_.claim(Knows::nothing);
        with_neighbours([&](Neighbour of_first, Neighbour of_second) {
            explore("", engine_.beside(of_first, claim), engine_.beside(of_second, claim), [&] {
                check_winner("1");
                EXPECT_EQ(row_.id, made_by(winner()));
                EXPECT_THAT(own_writes(), ElementsAre(winner().name()));
                EXPECT_EQ(found_by(loser()).as, As::busy);
            });
        });
    }
    EXPECT_GT(both_.waits(), 0);
    EXPECT_EQ(ends_.count("55P03"), 1);
}

TEST_P(Shared, claim_beside_the_reaper_gets_the_old_answer_or_a_key_of_its_own) {
    std::set<bool> made_anew;
    with_neighbours([&](Neighbour of_first, Neighbour of_second) {
        const auto claim = engine_.beside(of_first, engine_.claim(Knows::nothing));
        explore(finished_key(), claim, engine_.beside(of_second, engine_.reap()), [&] {
            EXPECT_EQ(both_.second.changed("delete_keys"), 1);
            made_anew.insert(won(both_.first));
            EXPECT_EQ(own_writes().size(), won(both_.first) ? 1 : 0);
            EXPECT_EQ(row_.state, won(both_.first) ? "live" : "expired");
        });
    });
    EXPECT_EQ(made_anew.size(), 2);
}

TEST_P(Shared, result_is_kept_by_the_attempt_or_by_the_one_that_took_over) {
    const auto taker =
        engine_.claim(Knows::the_key, Resumes::at_a_call) + engine_.keep(Keep::and_finish, won);
    with_neighbours([&](Neighbour of_first, Neighbour of_second) {
        const auto keep = engine_.beside(of_first, engine_.keep(Keep::and_finish));
        explore(open_key(lease_over), keep, engine_.beside(of_second, taker), [&] {
            const auto& keeper = won(both_.second) ? both_.second : both_.first;
            EXPECT_THAT(own_writes(), ElementsAre(keeper.name()));
            EXPECT_EQ(row_.body, keeper.name());
            EXPECT_EQ(row_.attempt, EngineSteps::attempt_of(keeper));
            EXPECT_EQ(both_.first.state(), won(both_.second) ? "22012" : "");
        });
    });
    EXPECT_EQ(ends_.count("22012"), 1);
}

TEST_P(Shared, renewal_does_not_outlast_what_is_kept) {
    const auto renewal = engine_.alone(EngineSteps::renewal);
    for (const auto how : {Keep::and_finish, Keep::and_move})
        with_neighbours([&](Neighbour of_first, Neighbour of_second) {
            const auto keep = engine_.beside(of_first, engine_.keep(how));
            explore(open_key(lease_runs), keep, engine_.beside(of_second, renewal), [&] {
                EXPECT_TRUE(both_.first.committed("commit_kept"));
                EXPECT_EQ(row_.attempt, "1");
                EXPECT_EQ(row_.lease, how == Keep::and_move ? Text{lease_of(both_.first)} : Text{});
            });
        });
    EXPECT_GT(both_.waits(), 0);
}

TEST_P(Shared, one_of_two_take_overs_gets_the_key) {
    const auto taker = engine_.claim(Knows::the_key, Resumes::at_a_phase);
    with_neighbours([&](Neighbour of_first, Neighbour of_second) {
        const auto first = engine_.beside(of_first, taker);
        explore(open_key(lease_over), first, engine_.beside(of_second, taker), [&] {
            check_winner("2");
        });
    });
    EXPECT_GT(both_.waits(), 0);
}

TEST(TheFence, is_that_of_the_store) {
    const pawl::testing::PostgresDatabase database;
    pawl::testing::run_sql(database.url(), "CREATE TABLE a_table (id INTEGER)");
    const postgres::PostgresOptions options{.url = database.url()};
    conformance::HandClock clock;
    postgres::Connection connection{options, clock};
    using Use = postgres::Connection::Use;
    const Sql fenced{"nothing", "", "UPDATE a_table SET id = 1"};
    const Sql prepared{
        "prepared", "", "SELECT statement FROM pg_prepared_statements ORDER BY name"};

    connection.queue(fenced, {}, Use::fence);
    EXPECT_THROW((void)connection.flush(), StoreError);
    connection.queue(prepared, {}, Use::plain);
    const auto told = told_by(connection.flush().get());

    ASSERT_FALSE(told.rows.empty());
    EXPECT_EQ(told.rows[0][0], fence_text(fenced));
}

}  // namespace
}  // namespace pawl::interleaving
