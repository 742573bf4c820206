#include <pawl/lease.hpp>
#include <pawl/locks.hpp>
#include <pawl/once_per_window.hpp>

#include "src/locks/store_lease_backend.hpp"
#include "tests/postgres/two_stores.hpp"

#include <atomic>
#include <barrier>
#include <thread>

// Locks with concurrent transactions: several connections of one store, and two stores as in two
// processes.
namespace pawl::postgres::locks_test {
namespace {

using Kind = StoreError::Kind;

constexpr auto highest = on_all<0>("highest_note", "SELECT coalesce(max(number), 0) FROM notes");
constexpr auto insert_number = on_all<1>("insert_number", "INSERT INTO notes (number) VALUES ($1)");
constexpr Sql numbers = on_all("numbers", "SELECT number FROM notes ORDER BY number");

class PostgresLocksTest : public TwoStores {
protected:
    // Holds the lock until the test lets go.
    struct Holder {
        std::promise<void> had;
        std::promise<void> released;
        Ending ending;
    };
    std::unique_ptr<Holder> hold(store::Store& store, const std::string& name) {
        auto holder = std::make_unique<Holder>();
        holder->ending = begin(
            store,
            [&had = holder->had, go = holder->released.get_future().share(), name](Tx& tx) {
                tx_lock(tx, name);
                had.set_value();
                go.wait();
            },
            Isolation::read_committed,
            20s
        );
        holder->had.get_future().wait();
        return holder;
    }
};

// Reads, then writes the value plus one: without the lock two read the same.
TEST_F(PostgresLocksTest, a_read_under_a_lock_sees_the_last_holders_write) {
    constexpr int each = 40;
    std::vector<Ending> endings;
    for (int n = 0; n < 2 * each; ++n)
        endings.push_back(begin(n % 2 == 0 ? one : other, [](Tx& tx) {
            tx_lock(tx, "numbers");
            const auto next = query_one<std::int64_t>(tx, highest) + 1;
            execute(tx, insert_number, next);
        }));
    for (const auto& ending : endings) EXPECT_EQ(ending.error(), std::nullopt);

    const auto found = read_rows<std::int64_t>(one, numbers);

    ASSERT_EQ(found.size(), 2 * each);
    std::int64_t expected = 0;
    for (const auto number : found) EXPECT_EQ(number, ++expected);
}

// Why repeatable_read is refused: the snapshot is older than the lock (docs/adr/0017).
TEST_F(PostgresLocksTest, an_older_snapshot_would_miss_the_last_holders_write) {
    std::promise<void> has_snapshot;
    std::promise<void> other_wrote;
    std::int64_t seen = -1;
    auto phase = begin(
        one,
        [&, told = false](Tx& tx) mutable {
            (void)query_one<std::int64_t>(tx, highest);
            if (!std::exchange(told, true)) has_snapshot.set_value();
            other_wrote.get_future().wait();
            tx.session().lock_name("numbers", 7, 5s);  // As tx_lock would.
            seen = query_one<std::int64_t>(tx, highest);
        },
        Isolation::repeatable_read
    );
    has_snapshot.get_future().wait();
    begin(other, [](Tx& tx) {
        tx.session().lock_name("numbers", 7, 5s);
        execute(tx, insert_number, 1);
    }).wait();
    other_wrote.set_value();
    EXPECT_EQ(phase.error(), std::nullopt);

    EXPECT_EQ(seen, 0);
}

TEST_F(PostgresLocksTest, a_wait_that_is_too_long_names_the_lock_and_writes_nothing) {
    auto holder = hold(one, "seats of flight 7");

    const auto error = begin(other, [](Tx& tx) {
                           execute(tx, notes::insert, "before");
                           tx_lock(tx, "seats of flight 7", 50ms);
                       }).error();

    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), Kind::busy);
    EXPECT_TRUE(error->safe_to_repeat());
    EXPECT_NE(std::string{error->what()}.find("'seats of flight 7'"), std::string::npos)
        << error->what();
    EXPECT_EQ(read_rows<std::int64_t>(one, notes::count).at(0), 0);
    holder->released.set_value();
    EXPECT_EQ(holder->ending.error(), std::nullopt);
}

TEST_F(PostgresLocksTest, the_phases_deadline_ends_the_wait_too) {
    auto holder = hold(one, "seats");
    const auto began = std::chrono::steady_clock::now();

    const auto error =
        begin(
            other, [](Tx& tx) { tx_lock(tx, "seats"); }, Isolation::read_committed, 300ms
        )
            .error();

    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), Kind::deadline);
    EXPECT_NE(std::string{error->what()}.find("'seats'"), std::string::npos) << error->what();
    EXPECT_GE(std::chrono::steady_clock::now() - began, 200ms);
    holder->released.set_value();
}

TEST_F(PostgresLocksTest, try_tx_lock_goes_on_without_the_lock) {
    auto holder = hold(one, "seats");
    bool had = true;

    const auto ending = begin(other, [&](Tx& tx) {
        had = try_tx_lock(tx, "seats");
        execute(tx, notes::insert, "without it");
        EXPECT_TRUE(try_tx_lock(tx, "another"));
    });

    EXPECT_EQ(ending.error(), std::nullopt);
    EXPECT_FALSE(had);
    EXPECT_EQ(read_rows<std::int64_t>(one, notes::count).at(0), 1);
    holder->released.set_value();
}

TEST_F(PostgresLocksTest, a_lock_ends_with_its_transaction_and_leaves_the_session_clean) {
    for (const bool commits : {true, false}) {
        const auto ending = begin(one, [&](Tx& tx) {
            tx_lock(tx, "seats");
            if (!commits) throw std::runtime_error{"after all"};
        });
        EXPECT_EQ(ending.wait() == nullptr, commits);

        bool had = false;
        begin(other, [&](Tx& tx) { had = try_tx_lock(tx, "seats"); }).wait();
        EXPECT_TRUE(had) << commits;
    }
}

// PostgreSQL finds the deadlock after a second, and rolls back one transaction, which runs again.
TEST_F(PostgresLocksTest, two_locks_taken_in_different_order_both_succeed) {
    std::barrier both{2};
    std::atomic<int> runs{0};
    const auto take = [&](std::string first, std::string second) {
        return [&, first, second, waited = false](Tx& tx) mutable {
            ++runs;
            tx_lock(tx, first);
            if (!std::exchange(waited, true)) both.arrive_and_wait();
            tx_lock(tx, second);
            execute(tx, notes::insert, first);
        };
    };

    auto ab = begin(one, take("a", "b"));
    auto ba = begin(other, take("b", "a"));

    EXPECT_EQ(ab.error(), std::nullopt);
    EXPECT_EQ(ba.error(), std::nullopt);
    EXPECT_GE(runs, 3) << "one met the other";
    EXPECT_EQ(read_rows<std::int64_t>(one, notes::count).at(0), 2);
}

TEST_F(PostgresLocksTest, of_many_concurrent_runs_one_is_first_at_every_isolation) {
    static constexpr OncePerWindow order{.action = "order", .window = 1h};
    for (const auto isolation :
         {Isolation::read_committed, Isolation::repeatable_read, Isolation::serializable}) {
        for (int round = 0; round < 10; ++round) {
            const auto about =
                std::to_string(static_cast<int>(isolation)) + "-" + std::to_string(round);
            std::array<Once<std::int64_t>, 12> told{};
            std::vector<Ending> endings;
            for (std::size_t n = 0; n < told.size(); ++n)
                endings.push_back(begin(
                    n % 2 == 0 ? one : other,
                    [&told, n, about](Tx& tx) {
                        told.at(n) = order.run(tx, {"rides", "jane"}, about, [&] {
                            execute(tx, notes::insert, about);
                            return static_cast<std::int64_t>(n + 1);
                        });
                    },
                    isolation
                ));
            for (const auto& ending : endings) {
                const auto error = ending.error();
                EXPECT_EQ(error, std::nullopt) << about << (error ? error->what() : "");
            }
            std::int64_t first = 0;
            for (const auto& one_of : told)
                if (one_of.first) {
                    EXPECT_EQ(first, 0) << about;
                    first = one_of.value;
                }
            EXPECT_NE(first, 0) << about;
            for (const auto& one_of : told) EXPECT_EQ(one_of.value, first) << about;
        }
    }
    EXPECT_EQ(read_rows<std::int64_t>(one, notes::count).at(0), 30);
}

// The old holder's transaction is open when the new one comes: the new one waits, and writes last.
TEST_F(PostgresLocksTest, a_higher_epoch_waits_for_the_commit_of_a_lower_one) {
    std::promise<void> passed;
    std::promise<void> go;
    auto old = begin(
        one,
        [&](Tx& tx) {
            check_fencing_token(tx, FencingToken::received("report", 1));
            passed.set_value();
            go.get_future().wait();
            execute(tx, notes::insert, "old");
        },
        Isolation::read_committed,
        20s
    );
    passed.get_future().wait();
    auto heir = begin(other, [](Tx& tx) {
        check_fencing_token(tx, FencingToken::received("report", 2));
        execute(tx, notes::insert, "new");
    });
    std::this_thread::sleep_for(200ms);
    EXPECT_FALSE(heir.has_ended());
    go.set_value();

    EXPECT_EQ(old.error(), std::nullopt);
    EXPECT_EQ(heir.error(), std::nullopt);
    EXPECT_EQ(read_rows<std::string>(one, notes::texts), (std::vector<std::string>{"old", "new"}));
    EXPECT_NE(
        begin(
            one, [](Tx& tx) { check_fencing_token(tx, FencingToken::received("report", 1)); }
        ).wait(),
        nullptr
    );
}

// By the database's clock, which both use.
TEST_F(PostgresLocksTest, a_lease_of_one_process_is_held_against_another_until_its_ttl) {
    const auto place = locks::store_lease_backend(one);
    const auto of_another = locks::store_lease_backend(other);
    const auto taken = place->acquire("report", "ann", 300ms);
    const auto began = std::chrono::steady_clock::now();
    ASSERT_TRUE(std::holds_alternative<core::LeaseAcquired>(taken));

    while (!std::holds_alternative<core::LeaseAcquired>(of_another->acquire("report", "joe", 30s)))
        std::this_thread::sleep_for(5ms);

    const auto waited = std::chrono::steady_clock::now() - began;
    EXPECT_GE(waited, 270ms);
}

// Paused while it holds the row lock, as a process that is stopped in its transaction.
TEST_F(PostgresLocksTest, try_acquire_does_not_wait_for_a_paused_row_lock_holder) {
    const auto place = locks::store_lease_backend(other);
    ASSERT_TRUE(std::holds_alternative<core::LeaseAcquired>(place->acquire("report", "ann", 1h)));
    place->release("report", "ann");
    std::promise<void> had;
    std::promise<void> go;
    auto holder = begin(
        one,
        [&](Tx& tx) {
            detail::run_statement(
                tx.session(), sql::lock_lease, [](const detail::Row&) {}, "report"
            );
            had.set_value();
            go.get_future().wait();
        },
        Isolation::read_committed,
        20s
    );
    had.get_future().wait();
    const auto began = std::chrono::steady_clock::now();

    const auto choice = place->acquire("report", "joe", 30s);

    EXPECT_TRUE(std::holds_alternative<core::LeaseHeld>(choice));
    EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
    // Found by reading: for a short lease the deadline came first, and was thrown.
    for (const auto ttl : {100ms, 1000ms, 1999ms})
        EXPECT_TRUE(std::holds_alternative<core::LeaseHeld>(place->acquire("report", "joe", ttl)));
    go.set_value();
    holder.wait();
    EXPECT_TRUE(std::holds_alternative<core::LeaseAcquired>(place->acquire("report", "joe", 30s)));
}

}  // namespace
}  // namespace pawl::postgres::locks_test
