#include "tests/postgres/node.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <vector>

// A request that is sent to several servers: the second one waits (in_progress = wait(max)).
namespace pawl::testing::attach_test {
namespace {

constexpr engine::EngineOptions never_looks{.poll_every = std::chrono::hours{1}};

// Without preallocated ids, so that each claim begins with a read.
class PostgresAttachTest : public NodesTest {
protected:
    std::unique_ptr<Node> node(engine::EngineOptions options, bool notify = true) {
        return NodesTest::node({.engine = options, .notify = notify, .preallocation = false});
    }
    // Its server process; 0 while no process listens.
    std::int64_t listener() {
        return number(
            "SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE datname = current_database() "
            "AND application_name = 'pawl-notices' AND state = 'idle' AND query = 'LISTEN "
            "pawl_keys'"
        );
    }
};

TEST_F(PostgresAttachTest, a_notice_alone_wakes_a_waiter_at_another_node) {
    const auto one = node(never_looks);
    const auto other = node(never_looks);
    auto first = one->send("k");
    wait_until("the call", [&] { return number("SELECT count(*) FROM calls") == 1; });
    auto second = other->send("k");
    other->wait_for_waiters(1);
    wait_until("the listener", [&] { return listener() != 0; });
    wait_until("its look at what went before", [&] { return other->store.reads == 2; });

    release();

    EXPECT_EQ(status_of(get(std::move(first))), 201);
    EXPECT_EQ(status_of(get(std::move(second))), 201);
    EXPECT_EQ(other->store.reads, 3);  // After its wake-up.
    EXPECT_EQ(number("SELECT count(*) FROM payments"), 1);
}

TEST_F(PostgresAttachTest, none_of_many_notices_at_once_is_lost) {
    const auto one = node(never_looks);
    const auto other = node(never_looks);
    constexpr int keys = 30;
    std::vector<std::future<Answer>> answers;
    for (int i = 0; i < keys; ++i) answers.push_back(one->send("k" + std::to_string(i)));
    wait_until("the calls", [&] { return number("SELECT count(*) FROM calls") == keys; });
    for (int i = 0; i < keys; ++i) answers.push_back(other->send("k" + std::to_string(i)));
    other->wait_for_waiters(keys);
    wait_until("its look at what went before", [&] { return other->store.reads == keys + 1; });

    release();

    for (auto& answer : answers) EXPECT_EQ(status_of(get(std::move(answer))), 201);
    EXPECT_EQ(other->store.reads, 2 * keys + 1);
    EXPECT_EQ(number("SELECT count(*) FROM payments"), keys);
}

TEST_F(PostgresAttachTest, a_listener_whose_connection_is_lost_polls_and_listens_again) {
    const auto one = node(never_looks);
    const auto other = node(never_looks);
    auto first = one->send("k");
    wait_until("the call", [&] { return number("SELECT count(*) FROM calls") == 1; });
    auto second = other->send("k");
    other->wait_for_waiters(1);
    wait_until("its look at what went before", [&] { return other->store.reads == 2; });
    const auto lost = listener();

    run_sql(database.url(), "SELECT pg_terminate_backend(" + std::to_string(lost) + ")");

    wait_until("another look", [&] { return other->store.reads == 3; });
    const auto found = listener();
    EXPECT_NE(found, 0);
    EXPECT_NE(found, lost);
    release();
    EXPECT_EQ(status_of(get(std::move(first))), 201);
    EXPECT_EQ(status_of(get(std::move(second))), 201);
    EXPECT_EQ(other->store.reads, 4);
}

TEST_F(PostgresAttachTest, without_notices_a_poll_finds_the_end) {
    const auto one = node({.poll_every = 50ms}, false);
    const auto other = node({.poll_every = 50ms}, false);
    auto first = one->send("k");
    wait_until("the call", [&] { return number("SELECT count(*) FROM calls") == 1; });
    auto second = other->send("k");
    other->wait_for_waiters(1);

    release();

    EXPECT_EQ(status_of(get(std::move(first))), 201);
    EXPECT_EQ(status_of(get(std::move(second))), 201);
    EXPECT_EQ(
        number("SELECT count(*) FROM pg_stat_activity WHERE application_name = "
               "'pawl-notices' AND datname = current_database()"),
        0
    );
}

// The second node's claims also meet the first one's locks.
TEST_F(PostgresAttachTest, a_crowd_on_both_nodes_gets_one_answer_for_each_key) {
    release();
    const auto one = node({});
    const auto other = node({});
    constexpr int keys = 10;
    std::vector<std::future<Answer>> answers;
    for (int i = 0; i < keys; ++i)
        for (int n = 0; n < 4; ++n)
            answers.push_back((n % 2 == 0 ? *one : *other).send("k" + std::to_string(i)));

    for (auto& answer : answers) EXPECT_EQ(status_of(get(std::move(answer))), 201);

    EXPECT_EQ(number("SELECT count(*) FROM payments"), keys);
    EXPECT_EQ(number("SELECT count(*) FROM calls"), keys);
}

constexpr engine::EngineOptions short_lease{.lease = 1s, .phase_deadline = 300ms};

// Not a test: the next one starts it as a process of its own.
TEST(Holder, DISABLED_hangs_in_its_call) {
    const char* url = std::getenv("PAWL_TEST_HELD");
    ASSERT_NE(url, nullptr);
    std::promise<void> never;
    Node node{url, {.engine = short_lease}, [&](const auto& key) {
                  run_sql(url, "INSERT INTO calls VALUES ('" + key + "')");
                  never.get_future().wait();
              }};
    (void)node.send("k").wait_for(60s);
    std::_Exit(1);
}

pid_t start_holder(const std::string& url) {
    ::setenv("PAWL_TEST_HELD", url.c_str(), 1);
    // The holder may belong to another shard.
    ::unsetenv("GTEST_TOTAL_SHARDS");
    ::unsetenv("GTEST_SHARD_INDEX");
    const pid_t started = ::fork();
    if (started == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::execl(
            "/proc/self/exe",
            "holder",
            "--gtest_filter=Holder.*",
            "--gtest_also_run_disabled_tests",
            nullptr
        );
        ::_exit(127);
    }
    return started;
}

TEST_F(PostgresAttachTest, a_waiter_takes_over_when_the_process_that_holds_the_key_is_killed) {
    release();
    const auto other = node(short_lease);
    const auto holder = start_holder(database.url());
    wait_until("the call", [&] { return number("SELECT count(*) FROM calls") == 1; });
    auto second = other->send("k");
    other->wait_for_waiters(1);

    ::kill(holder, SIGKILL);
    ::waitpid(holder, nullptr, 0);

    EXPECT_EQ(status_of(get(std::move(second))), 201);
    EXPECT_EQ(number("SELECT attempt FROM pawl_idempotency_keys"), 2);
    EXPECT_EQ(number("SELECT count(*) FROM payments"), 1);
    EXPECT_EQ(number("SELECT count(*) FROM calls"), 2);
    EXPECT_EQ(number("SELECT count(DISTINCT key) FROM calls"), 1);
}

}  // namespace
}  // namespace pawl::testing::attach_test
