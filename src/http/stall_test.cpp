#include "src/http/io_thread.hpp"
#include "src/http/listener.hpp"
#include "src/http/stall_watch.hpp"
#include "src/http/testing/listening.hpp"
#include "src/http/testing/raw_socket.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <thread>

// No code on an I/O thread may block, and a listener stops in time whatever a peer does (issue 16,
// number 1).
namespace pawl::http {
namespace {

using testing::RawSocket;
using namespace testing::requests;

const std::string post_that_waits =
    "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n";

Listener::Handlers echo() {
    return {
        .on_head = Listener::accept_all([](const Request& request, Responder respond) {
            respond(Reply{.body = request.head.method + " " + request.body});
        }),
        .on_error = [](int status,
                       std::string_view,
                       const RequestHead&) { return Reply{.status = status}; },
        .date = [] { return std::string{"now"}; }};
}

// Both ends of a connection; from add() on the io_thread owns the server's end.
struct Pair {
    RawSocket client;
    tcp::socket server;
};

// One thread with its connections; the test adds the connections.
class OneThreadServer {
public:
    explicit OneThreadServer(const ListenerOptions& options = {})
        : io_thread_{options, echo(), bodies_, [this](AddressPrefix) { ++closed_; }},
          acceptor_{io_thread_.io(), {tcp::v4(), 0}} {
        io_thread_.start();
    }
    ~OneThreadServer() {
        io_thread_.stop(0ms);
        io_thread_.join();
    }

    IoThread& io_thread() { return io_thread_; }
    int closed() const { return closed_; }

    Pair connect() {
        auto client = RawSocket::to(acceptor_.local_endpoint().port());
        return {std::move(client), acceptor_.accept()};
    }
    RawSocket added() {
        auto pair = connect();
        io_thread_.add(std::move(pair.server), AddressPrefix{});
        return std::move(pair.client);
    }
    // Its send buffer is full to the byte; the client has not read any of it.
    RawSocket added_full(std::size_t& bytes) {
        auto pair = connect();
        pair.client.small_receive_buffer();
        pair.server.set_option(asio::socket_base::send_buffer_size{32 * 1024});
        // More fits after the client's kernel has compacted its buffer and was asked again.
        for (int quiet = 0; quiet < 500; ++quiet) {
            if (const auto more = fill(pair.server.native_handle())) {
                bytes += more;
                quiet = 0;
            }
            std::this_thread::sleep_for(1ms);
        }
        io_thread_.add(std::move(pair.server), AddressPrefix{});
        return std::move(pair.client);
    }

private:
    static std::size_t fill(int descriptor) {
        const std::string junk(64UL * 1024, 'j');
        std::size_t all = 0;
        for (std::size_t size = junk.size(); size > 0;) {
            const auto sent = ::send(descriptor, junk.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL);
            if (sent > 0)
                all += static_cast<std::size_t>(sent);
            else
                size /= 2;
        }
        return all;
    }

    std::shared_ptr<BodyBudget> bodies_{std::make_shared<BodyBudget>(1000)};
    std::atomic<int> closed_{0};
    IoThread io_thread_;
    tcp::acceptor acceptor_;
};

TEST(IoThread, a_full_send_buffer_does_not_block_the_thread_that_sends_continue) {
    OneThreadServer server;
    std::size_t junk = 0;
    auto client = server.added_full(junk);
    auto other = server.added();
    client.send(post_that_waits);

    for (int i = 0; i < 3; ++i) {
        other.send(get_echo);
        ASSERT_EQ(body_of(other.read_message()), "GET ");
    }

    EXPECT_EQ(client.read_exactly(junk).size(), junk);
    EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("x");
    EXPECT_EQ(body_of(client.read_message()), "POST x");
}

TEST(IoThread, a_client_that_does_not_read_its_continue_is_cut_off) {
    OneThreadServer server{{.limits = {.write_timeout = 50ms}}};
    std::size_t junk = 0;
    auto client = server.added_full(junk);
    auto other = server.added();
    client.send(post_that_waits);

    const auto until = std::chrono::steady_clock::now() + 10s;
    while (server.closed() == 0 && std::chrono::steady_clock::now() < until) {
        other.send(get_echo);
        ASSERT_EQ(body_of(other.read_message()), "GET ");
    }

    EXPECT_EQ(server.closed(), 1);
    EXPECT_EQ(client.read_all().size(), junk);
}

TEST(IoThread, stops_in_time_while_a_client_does_not_read_its_continue) {
    OneThreadServer server;
    std::size_t junk = 0;
    auto client = server.added_full(junk);
    auto other = server.added();
    client.send(post_that_waits);
    other.send(get_echo);
    ASSERT_EQ(body_of(other.read_message()), "GET ");
    const auto began = std::chrono::steady_clock::now();

    server.io_thread().stop(100ms);

    EXPECT_TRUE(server.io_thread().ends_until(began + 5s));
}

TEST(Listener, stop_returns_although_a_handler_does_not) {
    std::promise<void> release;
    std::promise<void> entered;
    auto released = release.get_future().share();
    std::once_flag once;
    Listener listener{
        {.listen = "127.0.0.1:0", .threads = 2},
        {.on_head = Listener::accept_all([&](const Request&, Responder respond) {
             std::call_once(once, [&] {
                 entered.set_value();
                 released.wait();
             });
             respond(Reply{.body = "here"});
         }),
         .on_error = [](int status,
                        std::string_view,
                        const RequestHead&) { return Reply{.status = status}; },
         .date = [] { return std::string{"now"}; }}};
    listener.start();
    auto client = RawSocket::to(listener.port());
    client.send(get_echo);
    ASSERT_EQ(entered.get_future().wait_for(10s), std::future_status::ready);
    const auto began = std::chrono::steady_clock::now();

    EXPECT_FALSE(listener.stop(50ms));

    EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
    release.set_value();
}

TEST(StallWatch, a_thread_that_starves_or_is_a_little_late_is_not_held) {
    EXPECT_EQ(stall_of(50ms, {}), std::nullopt);
    EXPECT_EQ(stall_of(51ms, {}), 51ms);
    EXPECT_EQ(stall_of(200ms, {.on_cpu = 10ms, .starved = 150ms}), std::nullopt);
    EXPECT_EQ(stall_of(200ms, {.on_cpu = 200ms, .starved = 20ms}), 180ms);
}

#ifdef PAWL_FAULTS
// A busy machine may hold a quick handler's thread, too: there may be other warnings.
TEST(StallWatch, warns_of_a_handler_that_holds_its_thread) {
    std::promise<std::string> warned;
    std::once_flag once;
    Listener listener{
        {.listen = "127.0.0.1:0"},
        {.on_head = Listener::accept_all([](const Request&, Responder respond) {
             std::this_thread::sleep_for(200ms);
             respond(Reply{.body = "here"});
         }),
         .on_error = [](int status,
                        std::string_view,
                        const RequestHead&) { return Reply{.status = status}; },
         .date = [] { return std::string{"now"}; },
         .on_warning =
             [&](const base::Warning& warning) {
                 int held_ms = 0;
                 std::sscanf(warning.detail.c_str(), "held %d", &held_ms);
                 if (held_ms >= 150)
                     std::call_once(once, [&] { warned.set_value(std::string{warning.event}); });
             }}};
    listener.start();
    auto client = RawSocket::to(listener.port());
    client.send(get_echo);
    ASSERT_EQ(body_of(client.read_message()), "here");
    auto event = warned.get_future();

    ASSERT_EQ(event.wait_for(10s), std::future_status::ready);
    EXPECT_EQ(event.get(), "io_thread_stalled");
}
#endif

}  // namespace
}  // namespace pawl::http
