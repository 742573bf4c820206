#include <pawl/lease.hpp>

#include "src/locks/redis_lease_backend.hpp"
#include "tests/redis/redis_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

// Leases in a real Redis: when they fence, and what happens to epochs.
namespace pawl::testing {
namespace {

using ::testing::HasSubstr;

std::string refusal_of(RedisServer& server) {
    const auto refused = error_of([&] { (void)Leases::in_redis(server.url()); });
    return refused ? refused->what() : "";
}

TEST(RedisLeaseTest, a_redis_that_keeps_all_acknowledged_writes_fences) {
    auto& server = empty_redis();

    auto leases = Leases::in_redis(server.url());
    auto lease = leases.try_acquire("report", {.ttl = 1s});

    ASSERT_TRUE(lease);
    EXPECT_GT(lease->fencing_token().epoch(), 1'700'000'000'000'000)
        << "by the time, in microseconds";
    EXPECT_FALSE(leases.try_acquire("report"));
    EXPECT_EQ(server.ask({"TTL", "pawl:lease:report"}).integer, -1) << "its epoch never expires";
    EXPECT_TRUE(lease->release());
    EXPECT_EQ(server.ask({"EXISTS", "pawl:lease:report"}).integer, 1);
}

TEST(RedisLeaseTest, without_appendfsync_always_only_efficiency_leases_are_offered) {
    RedisServer server{{"--appendfsync", "everysec"}};

    EXPECT_THAT(refusal_of(server), HasSubstr("PAWL0030"));
    EXPECT_THAT(refusal_of(server), HasSubstr("appendfsync = everysec, and must say always"));
    EXPECT_THAT(refusal_of(server), HasSubstr("efficiency leases"));
    EXPECT_TRUE(EfficiencyLeases::in_redis(server.url()).try_acquire("report"));

    server.ask({"CONFIG", "SET", "appendfsync", "always"});
    EXPECT_EQ(refusal_of(server), "") << "no restart is needed";
}

TEST(RedisLeaseTest, each_acquisition_checks_the_settings_again) {
    RedisServer server;
    auto leases = Leases::in_redis(server.url());
    EXPECT_TRUE(leases.try_acquire("report"));
    server.ask({"CONFIG", "SET", "appendonly", "no"});

    const auto refused = error_of([&] { (void)leases.try_acquire("report"); });

    ASSERT_TRUE(refused);
    EXPECT_THAT(refused->what(), HasSubstr("appendonly = no"));
    EXPECT_TRUE(EfficiencyLeases::in_redis(server.url()).try_acquire("report"))
        << "what was refused is not left behind";
}

TEST(RedisLeaseTest, a_redis_with_a_replica_or_a_replica_does_not_fence) {
    RedisServer primary;
    RedisServer replica{{"--replicaof", "127.0.0.1 " + std::to_string(primary.port())}};
    for (int n = 0; n < 1'000 && refusal_of(primary).empty(); ++n)
        std::this_thread::sleep_for(10ms);

    EXPECT_THAT(refusal_of(primary), HasSubstr("connected_slaves = 1, and must say 0"));
    EXPECT_THAT(refusal_of(replica), HasSubstr("role = slave"));
}

TEST(RedisLeaseTest, a_redis_that_evicts_is_refused_for_any_lease) {
    RedisServer server{{"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"}};

    const auto refused =
        error_of([&] { (void)EfficiencyLeases::in_redis(server.url()).try_acquire("report"); });

    ASSERT_TRUE(refused);
    EXPECT_THAT(refused->what(), HasSubstr("PAWL0011"));
}

TEST(RedisLeaseTest, a_redis_that_was_killed_goes_on_with_a_higher_epoch) {
    RedisServer server;
    const auto take = [&](const std::string& holder) {
        const auto place = locks::redis_lease_backend(std::make_unique<Client>(server.options()));
        return std::get<core::LeaseAcquired>(place->acquire("report", holder, 100ms)).epoch;
    };
    const auto first = take("ann");

    server.kill();
    server.restart();

    for (int n = 0; n < 10; ++n) std::this_thread::sleep_for(20ms);
    EXPECT_GT(take("joe"), first);
}

// A second safeguard: its clock is still ahead of every epoch that it gave.
TEST(RedisLeaseTest, a_redis_that_lost_all_data_repeats_no_epoch) {
    auto& server = empty_redis();
    const auto place = locks::redis_lease_backend(std::make_unique<Client>(server.options()));
    const auto first = std::get<core::LeaseAcquired>(place->acquire("report", "ann", 1h)).epoch;

    server.ask({"FLUSHALL"});

    EXPECT_GT(std::get<core::LeaseAcquired>(place->acquire("report", "joe", 1h)).epoch, first);
}

TEST(RedisLeaseTest, while_redis_is_frozen_the_holder_learns_of_the_loss_before_the_end) {
    RedisServer server;
    auto leases = Leases::in_redis(server.url() + "?command_timeout_ms=5000");
    const auto began = std::chrono::steady_clock::now();
    auto lease = leases.try_acquire("report", {.ttl = 1s});
    ASSERT_TRUE(lease);
    server.freeze();

    while (!lease->lost().stop_requested() && std::chrono::steady_clock::now() - began < 10s)
        std::this_thread::sleep_for(5ms);

    const auto lost_after = std::chrono::steady_clock::now() - began;
    EXPECT_GE(lost_after, 800ms);
    EXPECT_LT(lost_after, 3s);
    EXPECT_FALSE(lease->is_held());
    server.thaw();
}

TEST(RedisLeaseTest, a_key_of_another_program_is_left_alone) {
    auto& server = empty_redis();
    server.ask({"SET", "pawl:lease:report", "theirs"});

    EXPECT_TRUE(error_of([&] { (void)Leases::in_redis(server.url()).try_acquire("report"); }));

    EXPECT_EQ(server.ask({"GET", "pawl:lease:report"}).text, "theirs");
}

}  // namespace
}  // namespace pawl::testing
