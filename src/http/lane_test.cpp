#include "src/http/listener.hpp"
#include "src/http/testing/listening.hpp"

#include <gtest/gtest.h>

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

TEST(Listener, one_connection_too_many_waits_until_another_ends) {
    Listening server{{.connections_max = 2}};
    auto first = server.connect();
    auto second = server.connect();
    for (auto* client : {&first, &second}) {
        client->send(get_echo);
        ASSERT_EQ(status_of(client->read_message()), "200");
    }
    auto third = server.connect();
    third.send(post("/later", "x"));
    first.send(get_echo);
    ASSERT_EQ(status_of(first.read_message()), "200");
    EXPECT_EQ(server.requests(), 3);  // The third was not taken.

    second.close();

    auto later = server.take_later();
    ASSERT_TRUE(later);
    (*later)(Reply{.body = "at last"});
    EXPECT_EQ(body_of(third.read_message()), "at last");
}

TEST(Listener, connections_go_to_all_threads_in_turn_and_each_stays_on_its_own) {
    std::mutex mutex;
    std::map<std::string, std::set<std::thread::id>> threads;  // By path: the connection's name.
    Listener listener{
        {.listen = "127.0.0.1:0", .threads = 3},
        {.on_head = [](const RequestHead&) { return std::nullopt; },
         .on_request =
             [&](const Request& request, Responder respond) {
                 {
                     const std::lock_guard lock{mutex};
                     threads[request.head.path].insert(std::this_thread::get_id());
                 }
                 respond(Reply{.body = "here"});
             },
         .on_error = [](int status, std::string_view) { return Reply{.status = status}; },
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

TEST(Listener, what_is_in_hand_on_any_thread_is_answered_before_it_stops) {
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
