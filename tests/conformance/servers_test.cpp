#include "src/ops/servers.hpp"

#include "src/queue/embedded/embedded_queue.hpp"
#include "tests/conformance/key_world.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

// Servers, their beats and their ends, on each store. These stores have no session lock, so that
// only ten seconds without a beat end a server; tests/postgres/servers_test.cpp has the others.
namespace pawl::conformance {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto set_calling =
    on_all<1>("set_calling", "UPDATE pawl_idempotency_keys SET calling = true WHERE id = $1");
constexpr Sql staged_claims =
    on_all("staged_claims", "SELECT claimed_until FROM pawl_staged_jobs ORDER BY id");

struct ServerLine {
    std::int64_t id{};
    std::string host;
    std::string version;
    TimePoint since;
    TimePoint seen_at;
    std::int64_t keys{};
    std::int64_t jobs{};
    std::int64_t staged_jobs{};
    std::string settings;
};

class ServersTest : public KeyTest {
protected:
    std::vector<ServerLine> lines() { return read_rows<ServerLine>(*store, sql::list_servers); }
    // They beat each 300 ms.
    void beat_for(std::chrono::milliseconds time, const std::vector<ops::Servers*>& living) {
        for (const auto end = now() + time; now() < end;) {
            for (auto* each : living) each->run_once();
            clock.advance(300ms);
        }
    }
    void stage(const Sql& statement, const std::string& jid) {
        run(statement,
            jid,
            "default",
            "send_receipt",
            "{}",
            now(),
            std::optional<std::int64_t>{},
            now());
    }
    std::size_t claimable_jobs() { return queue.claim(10, 1min).size(); }

    // `one` is started last, so that the store's claims are its own.
    void start_both() {
        other.start();
        one.start();
        one.on_ended([this](const ops::EndedServer& last) { ended.push_back(last); });
        server = store->server();
    }

    ops::Servers one{*store, clock, {}};
    ops::Servers other{*store, clock, {}};
    std::vector<ops::EndedServer> ended;
    queue::EmbeddedQueue queue{*store, "default"};
};
PAWL_ON_EACH_STORE(ServersTest);

}  // namespace

TEST_P(ServersTest, a_server_has_a_row_from_its_start_to_its_end) {
    one.start();
    const auto began = now();
    clock.advance(300ms);
    one.run_once();

    ASSERT_EQ(lines().size(), 1U);
    EXPECT_EQ(lines()[0].id, store->server());
    EXPECT_NE(lines()[0].host, "");
    EXPECT_NE(lines()[0].version, "");
    EXPECT_EQ(lines()[0].since, began);
    EXPECT_EQ(lines()[0].seen_at, now());

    one.leave();
    EXPECT_THAT(lines(), IsEmpty());
    EXPECT_EQ(store->server(), std::nullopt);
}

TEST_P(ServersTest, the_list_has_what_each_server_holds) {
    start_both();
    open_key("mine");
    server = std::nullopt;
    open_key("of no server");
    stage(sql::insert_job, "a");
    stage(sql::insert_job, "b");
    ASSERT_EQ(claimable_jobs(), 2U);
    stage(sql::insert_job, "not claimed");
    stage(sql::insert_staged_job, "c");
    run(sql::claim_staged_jobs, now(), now(), now() + 1min, now() + 2min, 10, store->server());

    ASSERT_EQ(lines().size(), 2U);
    EXPECT_EQ(lines()[0].keys + lines()[0].jobs + lines()[0].staged_jobs, 0);
    EXPECT_EQ(lines()[1].keys, 1);
    EXPECT_EQ(lines()[1].jobs, 2);
    EXPECT_EQ(lines()[1].staged_jobs, 1);
}

TEST_P(ServersTest, what_a_silent_server_held_is_free_after_ten_seconds) {
    start_both();
    const auto key = open_key("dropped");
    stage(sql::insert_job, "dropped");
    ASSERT_EQ(claimable_jobs(), 1U);
    stage(sql::insert_staged_job, "dropped");
    run(sql::claim_staged_jobs, now(), now(), now() + 1min, now() + 2min, 10, store->server());
    const auto dead = store->server();
    one.on_ended(nullptr);
    other.on_ended([this](const ops::EndedServer& last) { ended.push_back(last); });

    beat_for(10s, {&other});
    EXPECT_THAT(ended, IsEmpty());
    EXPECT_EQ(claimable_jobs(), 0U);
    beat_for(600ms, {&other});

    ASSERT_EQ(ended.size(), 1U);
    EXPECT_EQ(ended[0].keys, 1);
    EXPECT_EQ(ended[0].jobs, 1);
    EXPECT_EQ(ended[0].staged_jobs, 1);
    EXPECT_LT(state(key).lease_until, now() - 5s) << "the completer takes it at once";
    const auto freed = queue.claim(10, 1min);
    ASSERT_EQ(freed.size(), 1U);
    EXPECT_EQ(freed[0].deaths, 1);
    EXPECT_THAT(
        read_rows<std::optional<TimePoint>>(*store, staged_claims), ElementsAre(std::nullopt)
    );
    ASSERT_EQ(lines().size(), 1U);
    EXPECT_NE(lines()[0].id, dead);
}

// The database was away for longer than the lease.
TEST_P(ServersTest, a_lease_that_ended_is_no_death_if_its_server_has_beaten_since) {
    start_both();
    stage(sql::insert_job, "a");
    const auto claimed_deaths = [&] { return queue.claim(1, 2s).at(0).deaths; };
    EXPECT_EQ(claimed_deaths(), 0);
    beat_for(3s, {&one, &other});
    EXPECT_EQ(queue.rescue(60s), 1);
    EXPECT_EQ(claimed_deaths(), 0);

    clock.advance(3s);
    EXPECT_EQ(queue.rescue(60s), 1);

    EXPECT_EQ(claimed_deaths(), 1) << "no beat came";
}

// Session locks are free after a failover, also those of servers that live.
TEST_P(ServersTest, after_a_failed_look_a_free_session_lock_ends_no_server) {
    constexpr auto rename = on_all<0>("rename", "ALTER TABLE pawl_servers RENAME TO away");
    constexpr auto back = on_all<0>("back", "ALTER TABLE away RENAME TO pawl_servers");
    one.start();
    const auto other_with_a_free_lock = [&] {
        run(sql::insert_server, "host", "1.0", now(), std::optional<std::int64_t>{77});
    };

    other_with_a_free_lock();
    beat_for(1'500ms, {&one});
    EXPECT_EQ(lines().size(), 1U) << "its process is dead";

    other_with_a_free_lock();
    one.run_once();
    run(rename);
    EXPECT_THROW(one.run_once(), StoreError);
    run(back);
    beat_for(8s, {&one});
    EXPECT_EQ(lines().size(), 2U) << "it may live";
    beat_for(3s, {&one});
    EXPECT_EQ(lines().size(), 1U);
}

TEST_P(ServersTest, what_a_living_server_holds_is_not_touched) {
    start_both();
    const auto key = open_key("mine");
    stage(sql::insert_job, "mine");
    ASSERT_EQ(claimable_jobs(), 1U);
    ops::Servers silent{*store, clock, {}};
    silent.start();
    const auto before = state(key).lease_until;

    beat_for(15s, {&one, &other});

    EXPECT_EQ(ended.size(), 1U) << "of the silent one";
    EXPECT_EQ(ended[0].keys + ended[0].jobs, 0);
    EXPECT_EQ(state(key).lease_until, before);
    EXPECT_EQ(claimable_jobs(), 0U);
    EXPECT_EQ(lines().size(), 2U);
}

// Nobody knows whether such a call has happened until it has ended, or its lease.
TEST_P(ServersTest, a_key_in_a_call_that_is_never_repeated_keeps_its_lease) {
    start_both();
    const auto calling = open_key("calling");
    run(set_calling, calling);
    const auto before = state(calling).lease_until;
    open_key("between calls");

    beat_for(10'600ms, {&other});

    EXPECT_EQ(lines().size(), 1U);
    EXPECT_EQ(state(calling).lease_until, before);
    EXPECT_EQ(
        run(sql::take_over, calling, 1, now(), now(), now() + 1min, "ride_created", server), 0
    );
}

TEST_P(ServersTest, keys_that_are_finished_or_free_stay_as_they_are) {
    start_both();
    const auto finished = open_key("finished");
    finish(finished, 1, "ride_created");
    const auto free = open_key("free");
    run(sql::fail_attempt, free, 1, "ride_created", "why", now());
    other.on_ended([this](const ops::EndedServer& last) { ended.push_back(last); });

    beat_for(10'600ms, {&other});

    ASSERT_EQ(ended.size(), 1U);
    EXPECT_EQ(ended[0].keys, 0);
    EXPECT_EQ(state(free).lease_until, std::nullopt);
}

TEST_P(ServersTest, of_two_that_see_an_end_one_ends_the_server) {
    start_both();
    other.on_ended([this](const ops::EndedServer& last) { ended.push_back(last); });
    ops::Servers silent{*store, clock, {}};
    silent.start();

    beat_for(12s, {&one, &other});

    EXPECT_EQ(ended.size(), 1U);
}

TEST_P(ServersTest, a_server_that_was_ended_registers_under_another_id) {
    start_both();
    const auto before = store->server();
    const auto key = open_key("mine");
    beat_for(10'600ms, {&other});
    ASSERT_EQ(lines().size(), 1U);

    one.run_once();

    EXPECT_EQ(lines().size(), 2U);
    EXPECT_NE(store->server(), before);
    EXPECT_EQ(lines().back().id, store->server());
    // Its attempt is fenced only when another one takes the key over.
    EXPECT_EQ(run(sql::renew_lease, key, 1, "ride_created", now() + 30s), 1);
}

TEST_P(ServersTest, the_next_start_of_an_only_server_removes_the_row_of_the_one_before) {
    start_both();

    run(sql::delete_all_servers);

    EXPECT_THAT(lines(), IsEmpty());
}

}  // namespace pawl::conformance
