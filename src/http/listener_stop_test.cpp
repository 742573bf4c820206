#include "src/http/testing/listening.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <future>
#include <string>

namespace pawl::http {
namespace {

using namespace std::chrono_literals;
using testing::Listening;
using namespace testing::requests;

TEST(Listener, stop_waits_for_requests_in_flight_and_accepts_no_new_ones) {
    Listening server;
    // One request on each of the two threads, which stop independently.
    std::array idle{server.connect(), server.connect()};
    for (auto& connection : idle) {
        connection.send(get_echo);
        ASSERT_EQ(status_of(connection.read_message()), "200");
    }
    auto busy = server.connect();
    busy.send(post("/later", "x") + get_echo);
    auto later = server.take_later();
    ASSERT_TRUE(later);

    auto stopped = std::async(std::launch::async, [&] { server.listener().stop(10s); });
    for (auto& connection : idle) EXPECT_TRUE(connection.at_end());
    (*later)(Reply{.body = "the last"});
    const auto answer = busy.read_message();
    busy.half_close();

    EXPECT_EQ(body_of(answer), "the last");
    EXPECT_NE(answer.find("\r\nConnection: close\r\n"), std::string::npos);
    EXPECT_EQ(busy.read_all(), "");  // The second request on this connection is for another server.
    busy.close();
    EXPECT_EQ(stopped.wait_for(10s), std::future_status::ready);
}

TEST(Listener, stop_serves_the_request_of_a_connection_that_it_has_not_accepted_yet) {
    Listening server;
    std::promise<void> held;
    std::promise<void> release;
    // On the acceptor's thread.
    server.listener().after(0ms, [&, released = release.get_future().share()] {
        held.set_value();
        released.wait_for(10s);
    });
    ASSERT_EQ(held.get_future().wait_for(10s), std::future_status::ready);
    auto client = server.connect();
    client.send(get_echo);

    auto stopped = std::async(std::launch::async, [&] { server.listener().stop(10s); });
    EXPECT_EQ(stopped.wait_for(50ms), std::future_status::timeout);
    release.set_value();

    EXPECT_EQ(status_of(client.read_message()), "200");
    client.close();
    EXPECT_EQ(stopped.wait_for(10s), std::future_status::ready);
}

TEST(Listener, stop_does_not_wait_longer_than_its_limit) {
    Listening server;
    auto busy = server.connect();
    busy.send(post("/later", "x"));
    auto later = server.take_later();
    ASSERT_TRUE(later);

    auto stopped = std::async(std::launch::async, [&] { server.listener().stop(50ms); });

    EXPECT_EQ(stopped.wait_for(10s), std::future_status::ready);
    EXPECT_TRUE(busy.at_end());
    (*later)(Reply{.body = "too late"});  // The connection is gone; the call has no effect.
}

}  // namespace
}  // namespace pawl::http
