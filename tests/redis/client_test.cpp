#include "src/redis/client.hpp"

#include "tests/redis/redis_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>

// Which Redis is accepted, and what happens to a connection.
namespace pawl::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Kind = StoreError::Kind;
using Effect = StoreError::Effect;

TEST(RedisClientTest, a_redis_that_evicts_jobs_is_refused_with_what_to_change) {
    RedisServer server{{"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"}};
    Client client{server.options()};

    const auto refused = error_of([&] { client.check(); });

    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->kind(), Kind::refused) << "no program starts with it";
    EXPECT_THAT(refused->what(), HasSubstr("PAWL0011"));
    EXPECT_THAT(refused->what(), HasSubstr("allkeys-lru, and must be noeviction"));
    const auto of_push = error_of([&] { push(client, staged("j")); });
    ASSERT_TRUE(of_push) << "nothing is pushed there either";
    EXPECT_EQ(of_push->kind(), Kind::unavailable) << "its jobs wait until that is fixed";
    server.ask({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
    EXPECT_FALSE(error_of([&] { client.check(); })) << "no restart is needed";
}

TEST(RedisClientTest, where_config_is_forbidden_info_says_what_it_evicts) {
    auto& server = empty_redis();
    server.ask({"ACL", "SETUSER", "app", "on", ">secret", "~*", "&*", "+@all", "-config"});
    auto options = server.options();
    options.user = "app";
    options.password = "secret";
    std::string told;
    Client client{options, nullptr, [&](const base::Warning& warning) { told = warning.detail; }};

    EXPECT_FALSE(error_of([&] { client.check(); }));
    EXPECT_THAT(told, HasSubstr("does not say its appendfsync"));

    server.ask({"CONFIG", "SET", "maxmemory-policy", "volatile-ttl"});
    EXPECT_THAT(error_of([&] { Client{options}.check(); })->what(), HasSubstr("volatile-ttl"));
    server.ask({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
    server.ask({"ACL", "SETUSER", "app", "-info"});
    EXPECT_THAT(error_of([&] { Client{options}.check(); })->what(), HasSubstr("does not say"));
    server.ask({"ACL", "DELUSER", "app"});
}

// The rights that docs/howto/redis.md names.
TEST(RedisClientTest, a_user_without_dangerous_commands_is_enough) {
    auto& server = empty_redis();
    server.ask(
        {"ACL",
         "SETUSER",
         "app",
         "on",
         ">secret",
         "~queue:*",
         "~queues",
         "~schedule",
         "~retry",
         "~dead",
         "~pawl:*",
         "+@all",
         "-@dangerous",
         "+config|get"}
    );
    auto options = server.options();
    options.user = "app";
    options.password = "secret";
    Client client{
        options, nullptr, [](const base::Warning& warning) { ADD_FAILURE() << warning.detail; }};
    queue::RedisQueue queue{client};

    push(client, staged("j"));
    auto job = queue.claim(1, 30s).at(0);
    EXPECT_TRUE(queue.mark_called(job));
    EXPECT_TRUE(queue.reschedule(job, 0s, "e"));
    job = queue.claim(1, 30s).at(0);
    EXPECT_TRUE(queue.renew(job, 1h));
    EXPECT_EQ(queue.rescue(1s), 1);
    EXPECT_TRUE(queue.dead_letter(queue.claim(1, 30s).at(0), "e"));

    EXPECT_EQ(server.ask({"ZCARD", "dead"}).integer, 1);
    server.ask({"ACL", "DELUSER", "app"});
}

TEST(RedisClientTest, a_redis_that_may_lose_acknowledged_writes_gets_one_remark) {
    RedisServer server{{"--appendfsync", "everysec"}};
    std::atomic<int> warnings{0};
    Client client{server.options(), nullptr, [&](const base::Warning& warning) {
                      EXPECT_EQ(warning.code, "PAWL0012");
                      EXPECT_THAT(warning.detail, HasSubstr("appendfsync = everysec"));
                      ++warnings;
                  }};

    client.check();
    server.ask({"CLIENT", "KILL", "TYPE", "normal"});
    client.check();

    EXPECT_EQ(warnings, 1);
}

TEST(RedisClientTest, a_durable_redis_gets_no_remark) {
    Client client{empty_redis().options(), nullptr, [](const base::Warning& warning) {
                      ADD_FAILURE() << warning.detail;
                  }};

    client.check();
}

TEST(RedisClientTest, a_wrong_password_is_reported_but_never_shown) {
    RedisServer server;
    server.ask({"CONFIG", "SET", "requirepass", "right-one"});
    auto options = server.options();
    for (const auto* password : {"", "wrong-one"}) {
        options.password = password;
        const auto refused = error_of([&] { Client{options}.check(); });

        ASSERT_TRUE(refused);
        EXPECT_EQ(refused->kind(), Kind::unavailable);
        EXPECT_EQ(refused->effect(), Effect::none);
        EXPECT_THAT(refused->what(), HasSubstr(options.place()));
        EXPECT_THAT(refused->what(), HasSubstr("password"));
        EXPECT_THAT(refused->what(), Not(HasSubstr("wrong-one")));
    }
    options.password = "right-one";
    EXPECT_FALSE(error_of([&] { Client{options}.check(); }));
}

TEST(RedisClientTest, each_number_is_a_database_of_its_own) {
    auto options = empty_redis().options();
    options.database = 3;
    Client client{options};

    push(client, staged("j"));

    EXPECT_EQ(empty_redis().ask({"LLEN", "queue:default"}).integer, 0);
}

TEST(RedisClientTest, without_a_server_the_effect_is_none) {
    RedisServer server;
    Client client{server.options()};
    server.kill();

    const auto failed = error_of([&] { push(client, staged("j")); });

    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->kind(), Kind::unavailable);
    EXPECT_EQ(failed->effect(), Effect::none);
    EXPECT_TRUE(failed->safe_to_repeat());
    EXPECT_THAT(failed->what(), HasSubstr(server.options().place()));
}

TEST(RedisClientTest, a_connection_cut_while_idle_causes_no_error) {
    auto& server = empty_redis();
    Client client{server.options()};
    client.check();

    for (int i = 0; i < 20; ++i) {
        server.ask({"CLIENT", "KILL", "TYPE", "normal"});
        EXPECT_EQ(push(client, staged(long_id(i))).sent.size(), 1);
    }

    EXPECT_EQ(server.ask({"LLEN", "queue:default"}).integer, 20);
}

// So large that the connection breaks in the middle of sending: the next write would raise SIGPIPE
// and end the process.
TEST(RedisClientTest, a_redis_that_dies_while_it_is_written_to_is_an_error_and_no_signal) {
    RedisServer server;
    redis::Connection connection{server.options()};
    const redis::Command ping{"PING"};
    // Redis has accepted the connection.
    connection.ask("redis test", std::span{&ping, 1}, Access::read);
    server.kill();
    const redis::Command large{"LPUSH", "queue:default", std::string(64'000'000, 'x')};

    const auto failed = error_of([&] {
        connection.ask("redis test", std::span{&large, 1}, Access::write);
    });

    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->kind(), Kind::unavailable);
}

TEST(RedisClientTest, a_script_that_redis_forgot_is_sent_again) {
    auto& server = empty_redis();
    Client client{server.options()};
    queue::RedisQueue queue{client};
    push(client, staged("a"));
    push(client, staged("b"));
    EXPECT_EQ(queue.claim(1, 30s).size(), 1);

    server.ask({"SCRIPT", "FLUSH"});

    EXPECT_EQ(queue.claim(1, 30s).size(), 1);
}

// The server got it and is frozen before it answers.
TEST(RedisClientTest, a_write_whose_answer_does_not_come_in_time_is_in_doubt) {
    auto& server = empty_redis();
    auto options = server.options();
    options.command_timeout = 300ms;
    Client client{options};
    client.check();
    server.freeze();

    const auto failed = error_of([&] {
        client.ask(
            "redis test", {"LPUSH", "queue:default", "x"}, Access::write, redis::Shape::integer
        );
    });
    server.thaw();

    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->effect(), Effect::in_doubt);
    EXPECT_FALSE(failed->safe_to_repeat());
    EXPECT_EQ(failed->statement(), "redis test");
    EXPECT_THAT(failed->what(), HasSubstr("no answer in time"));
    EXPECT_EQ(server.ask({"LLEN", "queue:default"}).integer, 1) << "it was done all the same";
    EXPECT_FALSE(error_of([&] { client.check(); })) << "the next has a connection of its own";
}

// As from a proxy, or from another server than Redis.
TEST(RedisClientTest, an_answer_of_an_unexpected_shape_is_an_error_and_is_not_read) {
    Client client{empty_redis().options()};
    const redis::Script wrong{"redis wrong", "return 'a text, and no number'"};

    const auto failed = error_of([&] { client.run(wrong, {}, {}); });

    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->kind(), Kind::statement);
    EXPECT_EQ(failed->effect(), Effect::in_doubt);
    EXPECT_EQ(failed->statement(), "redis wrong");
    EXPECT_THAT(failed->what(), HasSubstr("of a shape that Redis does not give"));
}

TEST(RedisClientTest, a_replica_is_reported_as_one) {
    RedisServer primary;
    RedisServer replica{{"--replicaof", "127.0.0.1", std::to_string(primary.port())}};
    Client client{replica.options()};

    const auto failed = error_of([&] { push(client, staged("j")); });

    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->kind(), Kind::unavailable);
    EXPECT_THAT(failed->what(), HasSubstr("name the primary"));
    const auto clients = replica.ask({"CLIENT", "LIST", "TYPE", "normal"}).text;
    EXPECT_EQ(std::count(clients.begin(), clients.end(), '\n'), 1)
        << "who asks again connects anew: the name may lead to another by then";
}

}  // namespace
}  // namespace pawl::testing
