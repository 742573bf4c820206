// Requests that wait for a name or a connection before they reach their server.
#include "src/http/testing/raw_server.hpp"
#include "src/http/transfer.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netdb.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string_view>

namespace {

// Never destroyed: a thread of libcurl that is not joined uses it last.
std::promise<void>& name_server_is_back() {
    static auto& one = *new std::promise<void>;
    return one;
}
std::shared_future<void>& back() {
    static auto& one = *new std::shared_future<void>{name_server_is_back().get_future()};
    return one;
}
std::atomic<int> asked{0};

}  // namespace

// Replaces the C library's: a server whose name server does not answer.
extern "C" int getaddrinfo(
    const char* name, const char* service, const addrinfo* hints, addrinfo** found
) {
    if (name != nullptr && std::string_view{name} == "silent.test") {
        ++asked;
        std::shared_future<void>{back()}.wait();
        return EAI_AGAIN;
    }
    using Real = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
    static const auto real = reinterpret_cast<Real>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    return real(name, service, hints, found);
}

namespace pawl::http {
namespace {

using testing::RawServer;
using testing::RawSocket;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

bool is_not_sent(const Sent& sent) {
    return std::holds_alternative<NotSent>(sent);
}

// Before, libcurl resolved the name on the one thread that serves all transfers.
TEST(Transfers, a_silent_name_server_does_not_delay_other_transfers) {
    RawServer server{[](RawServer&, RawSocket& socket) {
        while (!socket.read_message().empty())
            socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }};
    {
        Transfers transfers;
        std::promise<Sent> silent;
        transfers.start({.url = "http://silent.test/", .connect_timeout = 100ms}, [&](Sent sent) {
            silent.set_value(std::move(sent));
        });

        EXPECT_TRUE(is_not_sent(silent.get_future().get()));
        EXPECT_GE(asked.load(), 1);
        for (int n = 0; n < 10; ++n)
            EXPECT_TRUE(std::holds_alternative<IncomingResponse>(
                transfers.perform({.url = server.url(), .timeout = 10s})
            ));
    }
    name_server_is_back().set_value();  // Otherwise all of the above would wait for ever.
}

// libcurl applies no time-out while a request waits for a connection.
TEST(Transfers, a_request_that_waits_for_a_connection_times_out_too) {
    std::promise<void> taken;
    std::promise<void> answers;
    auto may_answer = answers.get_future().share();
    RawServer server{[&](RawServer& self, RawSocket& socket) {
        self.saw(socket.read_message());
        taken.set_value();
        may_answer.wait();
        socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }};
    Transfers transfers{1};
    std::promise<Sent> first;
    transfers.start({.url = server.url(), .timeout = 60s}, [&](Sent sent) {
        first.set_value(std::move(sent));
    });
    taken.get_future().wait();

    EXPECT_TRUE(is_not_sent(transfers.perform({.url = server.url(), .timeout = 100ms})));

    answers.set_value();
    EXPECT_TRUE(std::holds_alternative<IncomingResponse>(first.get_future().get()));
    EXPECT_EQ(server.seen().size(), 1U);
}

}  // namespace
}  // namespace pawl::http
