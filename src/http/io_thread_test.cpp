#include "src/base/clock.hpp"
#include "src/base/timers.hpp"
#include "src/http/listener.hpp"
#include "src/http/testing/listening.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

// One listener, several I/O threads.
namespace pawl::http {
namespace {

using testing::Listening;
using testing::RawSocket;
using namespace testing::requests;

// Before, clients that held all connections and sent a request now and then locked out all others.
TEST(Listener, closes_the_longest_idle_connection_when_one_too_many_comes) {
    Listening server{{.connections_max = 4}};
    std::vector<RawSocket> holders;
    const auto ask = [&](std::size_t holder) {
        holders.at(holder).send(get_echo);
        return status_of(holders.at(holder).read_message());
    };
    for (std::size_t i = 0; i < 4; ++i) {
        holders.push_back(server.connect());
        ASSERT_EQ(ask(i), "200");
    }
    // A response can be read before its connection is idle. The second connection is idle, as its
    // io_thread has answered the fourth since.
    for (const std::size_t again : {0U, 2U, 3U}) ASSERT_EQ(ask(again), "200");

    auto newcomer = server.connect();
    newcomer.send(get_echo);

    EXPECT_EQ(status_of(newcomer.read_message()), "200");
    EXPECT_TRUE(holders[1].at_end());
    for (const std::size_t kept : {0U, 2U, 3U}) EXPECT_EQ(ask(kept), "200") << kept;
}

TEST(Listener, closes_slow_senders_and_readers_only_if_none_is_idle) {
    Listening server{{.connections_max = 3}};
    auto idle = server.connect();
    auto reads_nothing = server.connect();
    reads_nothing.small_receive_buffer();
    reads_nothing.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    reads_nothing.read_exactly(1);
    auto sends_a_head = server.connect();
    // Both are on one io_thread: the first is idle when the second has its answer.
    for (auto* client : {&idle, &sends_a_head}) {
        client->send(get_echo);
        ASSERT_EQ(status_of(client->read_message()), "200");
    }
    sends_a_head.send("GET /echo HTTP/1.1\r\nHo");
    std::vector<RawSocket> busy;
    const auto come_and_stay = [&] {
        busy.push_back(server.connect());
        busy.back().send(post("/later", "x"));
        return server.take_later();
    };

    auto first = come_and_stay();
    ASSERT_TRUE(first);
    EXPECT_TRUE(idle.at_end());
    auto second = come_and_stay();
    ASSERT_TRUE(second);
    EXPECT_TRUE(sends_a_head.at_end());
    auto third = come_and_stay();
    ASSERT_TRUE(third);
    EXPECT_LT(reads_nothing.read_all().size(), Listening::large);

    for (auto* later : {&first, &second, &third}) (**later)(Reply{.body = "here"});
    for (auto& client : busy) EXPECT_EQ(body_of(client.read_message()), "here");
}

TEST(Listener, one_connection_too_many_waits_while_all_others_are_handled) {
    Listening server{{.connections_max = 2}};
    std::vector<RawSocket> busy;
    std::vector<Responder> later;
    for (int i = 0; i < 2; ++i) {
        busy.push_back(server.connect());
        busy.back().send(post("/later", "x"));
        auto taken = server.take_later();
        ASSERT_TRUE(taken);
        later.push_back(std::move(*taken));
    }
    auto third = server.connect();
    third.send(post("/later", "x"));
    std::promise<void> rounds;  // Time enough to accept it by mistake.
    base::TimerThread timers{base::system_clock()};
    timers.after(200ms, [&] { rounds.set_value(); });
    ASSERT_EQ(rounds.get_future().wait_for(10s), std::future_status::ready);
    EXPECT_EQ(server.requests(), 2);

    later[0](Reply{.body = "done"});

    auto taken = server.take_later();
    ASSERT_TRUE(taken);
    (*taken)(Reply{.body = "at last"});
    EXPECT_EQ(body_of(busy[0].read_message()), "done");
    EXPECT_EQ(body_of(third.read_message()), "at last");
    later[1](Reply{.body = "done"});
    EXPECT_EQ(body_of(busy[1].read_message()), "done");
}

TEST(Listener, one_connection_too_many_of_an_address_is_closed_and_no_longer_counted) {
    Listening server{{.connections_per_address_max = 2}};
    auto first = server.connect();
    auto second = server.connect();
    for (auto* client : {&first, &second}) {
        client->send(get_echo);
        ASSERT_EQ(status_of(client->read_message()), "200");
    }

    EXPECT_TRUE(server.connect().at_end());

    second.send(get_echo);
    EXPECT_EQ(status_of(second.read_message()), "200");
    first.close();
    const auto until = std::chrono::steady_clock::now() + 10s;
    std::string answer;
    while (status_of(answer) != "200" && std::chrono::steady_clock::now() < until) {
        auto next = server.connect();
        if (next.send(get_echo)) answer = next.read_message();
    }
    EXPECT_EQ(status_of(answer), "200");
}

// A socket for both families names an IPv4 client ::ffff:127.0.0.1: its first 64 bits are those of
// all IPv4 clients.
TEST(Listener, on_both_families_each_ipv4_client_has_a_limit_of_its_own) {
    Listening server{{.listen = "[::]:0", .connections_per_address_max = 1}};
    const auto connect = [&](const char* from) {
        auto client = RawSocket::to(server.listener().port(), from);
        client.send(get_echo);
        return client;
    };
    auto first = connect("127.0.0.1");
    ASSERT_EQ(status_of(first.read_message()), "200");

    auto neighbour = connect("127.0.0.2");

    EXPECT_EQ(status_of(neighbour.read_message()), "200");
    EXPECT_TRUE(connect("127.0.0.2").at_end());
}

TEST(Listener, connections_go_to_all_threads_in_turn_and_each_stays_on_its_own) {
    std::mutex mutex;
    std::map<std::string, std::set<std::thread::id>> threads;  // By path: the connection's name.
    Listener listener{
        {.listen = "127.0.0.1:0", .threads = 3},
        {.on_head = Listener::accept_all([&](const Request& request, Responder respond) {
             {
                 const std::lock_guard lock{mutex};
                 threads[request.head.path].insert(std::this_thread::get_id());
             }
             respond(Reply{.body = "here"});
         }),
         .on_error = [](int status,
                        std::string_view,
                        const RequestHead&) { return Reply{.status = status}; },
         .date = [] { return std::string{"now"}; }}};
    listener.start();
    std::vector<RawSocket> clients;
    for (int i = 0; i < 6; ++i) clients.push_back(RawSocket::to(listener.port()));

    for (int round = 0; round < 2; ++round)
        for (std::size_t i = 0; i < clients.size(); ++i) {
            clients[i].send("GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n\r\n");
            ASSERT_EQ(body_of(clients[i].read_message()), "here");
        }

    std::map<std::thread::id, int> connections;
    for (const auto& [path, on] : threads) {
        ASSERT_EQ(on.size(), 1U) << path;
        ++connections[*on.begin()];
    }
    ASSERT_EQ(connections.size(), 3U);
    for (const auto& [thread, count] : connections) EXPECT_EQ(count, 2);
}

TEST(Listener, requests_in_flight_on_any_thread_are_answered_before_a_stop) {
    Listening server;
    std::vector<RawSocket> clients;
    std::vector<Responder> later;
    for (int i = 0; i < 4; ++i) {
        clients.push_back(server.connect());
        clients.back().send(post("/later", "x"));
        auto taken = server.take_later();
        ASSERT_TRUE(taken);
        later.push_back(std::move(*taken));
    }

    std::jthread stopper{[&] { server.listener().stop(10s); }};
    for (auto& respond : later) respond(Reply{.body = "at last"});

    for (auto& client : clients) EXPECT_EQ(body_of(client.read_message()), "at last");
}

}  // namespace
}  // namespace pawl::http
