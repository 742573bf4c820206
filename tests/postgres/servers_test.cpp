#include "src/ops/servers.hpp"

#include "tests/postgres/two_stores.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <thread>

// The end of a server as its session lock shows it.
namespace pawl::postgres::servers_test {
namespace {

constexpr Sql count_servers = on_all("count_servers", "SELECT count(*) FROM pawl_servers");
constexpr Sql end_notices_connections{
    "end_notices_connections",
    "",
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
    "WHERE application_name = 'pawl-notices' AND datname = current_database()"};
constexpr Sql count_session_locks = on_all(
    "count_session_locks",
    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = "
    "(SELECT oid FROM pg_database WHERE datname = current_database())"
);

// Two processes, each with a connection that holds its lock. The clock of the watch is set by hand.
class ServerLockTest : public ::testing::Test {
protected:
    ServerLockTest() {
        store::apply_migrations(*one, "pawl", sql::migrations::all);
        await_lock(*one);
        await_lock(*other);
        servers.start();
        observer.start();
    }
    static std::optional<std::int64_t> await_lock(store::Store& store) {
        for (int i = 0; i < 1'000 && !store.session_lock(); ++i) std::this_thread::sleep_for(10ms);
        EXPECT_TRUE(store.session_lock()) << "no connection holds the lock";
        return store.session_lock();
    }
    std::unique_ptr<PostgresStore> open() {
        return std::make_unique<PostgresStore>(options, clock, base::system_random());
    }
    void observe_for(std::chrono::milliseconds time) {
        for (const auto end = clock.now() + time; clock.now() < end; clock.advance(300ms))
            observer.run_once();
    }
    std::int64_t count() { return read_rows<std::int64_t>(*other, count_servers).at(0); }
    // PostgreSQL notices the end of its client's connection a little later, whatever our clock
    // says.
    void end_process_one() {
        one.reset();
        while (read_rows<std::int64_t>(*other, count_session_locks).at(0) > 1)
            std::this_thread::sleep_for(1ms);
    }

    HandClock clock;
    testing::PostgresDatabase database;
    PostgresOptions options{.url = database.url(), .connections = 2};
    std::unique_ptr<PostgresStore> one = open();
    std::unique_ptr<PostgresStore> other = open();
    ops::Servers servers{*one, clock, {}};
    ops::Servers observer{*other, clock, {}};
};

}  // namespace

TEST_F(ServerLockTest, a_dead_process_ends_within_one_and_a_half_seconds) {
    observe_for(300ms);
    end_process_one();

    observe_for(900ms);
    EXPECT_EQ(count(), 2);
    observe_for(600ms);
    EXPECT_EQ(count(), 1);
}

TEST_F(ServerLockTest, a_process_that_holds_its_lock_ends_only_after_ten) {
    observe_for(9'600ms);
    EXPECT_EQ(count(), 2);

    observe_for(1'200ms);
    EXPECT_EQ(count(), 1);
}

TEST_F(ServerLockTest, a_server_that_beats_needs_no_lock) {
    const auto lost = one->session_lock();
    read_rows<std::int64_t>(*other, end_notices_connections);

    for (int i = 0; i < 10; ++i) {
        servers.run_once();
        observe_for(300ms);
    }

    EXPECT_EQ(count(), 2);
    // On a busy machine the process notices the broken connection late.
    while (one->session_lock() == lost) std::this_thread::sleep_for(10ms);
    const auto again = await_lock(*one);
    EXPECT_NE(again, lost) << "PostgreSQL may still hold the one of the broken connection";
}

// The beat after a reconnection writes the new lock; until then the old one is free.
TEST_F(ServerLockTest, the_row_has_the_new_lock_after_a_reconnection) {
    const auto lost = one->session_lock();
    read_rows<std::int64_t>(*other, end_notices_connections);
    while (one->session_lock() == lost) std::this_thread::sleep_for(10ms);
    await_lock(*one);
    servers.run_once();

    observe_for(3s);

    EXPECT_EQ(count(), 2);
}

TEST_F(ServerLockTest, without_notify_there_is_no_lock) {
    options.notify = false;
    const auto through_pgbouncer = open();

    EXPECT_EQ(through_pgbouncer->session_lock(), std::nullopt);
    std::this_thread::sleep_for(100ms);
    EXPECT_EQ(through_pgbouncer->session_lock(), std::nullopt);
}

}  // namespace pawl::postgres::servers_test
