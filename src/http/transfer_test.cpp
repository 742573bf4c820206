#include "src/http/transfer.hpp"

#include "src/http/testing/raw_server.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <stop_token>
#include <string>
#include <vector>

namespace pawl::http {
namespace {

using testing::RawServer;
using testing::RawSocket;

constexpr std::string_view ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

OutgoingRequest post_to(const std::string& url, std::string body = "amount=1") {
    return {.method = "POST", .url = url + "/charges", .headers = {}, .body = std::move(body)};
}

std::string verdict(const Sent& sent) {
    if (std::holds_alternative<NotSent>(sent)) return "not sent";
    if (std::holds_alternative<Lost>(sent)) return "lost";
    return std::to_string(std::get<IncomingResponse>(sent).status);
}

int count_of(const std::vector<std::string>& seen, std::string_view start) {
    int count = 0;
    for (const auto& line : seen) count += line.starts_with(start) ? 1 : 0;
    return count;
}

// Answers all methods but POST and keeps the connection; reads a POST and closes.
void take_post_and_close(RawServer& server, RawSocket& socket) {
    while (true) {
        const auto request = socket.read_message();
        if (request.empty()) return;
        server.saw(request);
        if (request.starts_with("POST")) return;
        socket.send(ok);
    }
}

TEST(Transfers, a_post_that_is_never_resent_is_seen_once_by_a_server_that_closes) {
    RawServer server{take_post_and_close};
    Transfers transfers;
    ASSERT_EQ(verdict(transfers.perform({.url = server.url()})), "200");

    auto request = post_to(server.url());
    request.fresh_connection = true;
    const auto sent = transfers.perform(std::move(request));

    EXPECT_EQ(verdict(sent), "lost");
    EXPECT_EQ(count_of(server.seen(), "POST"), 1);
}

// libcurl's own second sending would look like one try. The server has seen the first: an answer
// to the second, such as 429, must not prove that nothing was done.
TEST(Transfers, without_the_setting_a_second_sending_is_cut_off) {
    RawServer server{take_post_and_close};
    Transfers transfers;
    ASSERT_EQ(verdict(transfers.perform({.url = server.url()})), "200");

    const auto sent = transfers.perform(post_to(server.url()));

    EXPECT_EQ(verdict(sent), "lost");
    EXPECT_EQ(count_of(server.seen(), "POST"), 1);
}

// After its own resend libcurl reports "could not connect" for a request that was sent once.
TEST(Transfers, a_resend_that_is_refused_does_not_make_a_lost_request_certain) {
    RawServer server{[](RawServer& self, RawSocket& socket) {
        while (true) {
            const auto request = socket.read_message();
            if (request.empty()) return;
            self.saw(request);
            if (request.starts_with("POST")) return self.stop_listening();
            socket.send(ok);
        }
    }};
    Transfers transfers;
    ASSERT_EQ(verdict(transfers.perform({.url = server.url()})), "200");

    const auto sent = transfers.perform(post_to(server.url()));

    EXPECT_EQ(count_of(server.seen(), "POST"), 1);
    EXPECT_EQ(verdict(sent), "lost");
}

TEST(Transfers, keeps_a_connection_for_the_next_request) {
    RawServer server{[](RawServer&, RawSocket& socket) {
        while (!socket.read_message().empty()) socket.send(ok);
    }};
    Transfers transfers;

    for (int i = 0; i < 3; ++i) EXPECT_EQ(verdict(transfers.perform(post_to(server.url()))), "200");
    EXPECT_EQ(server.connections(), 1);
}

// Only the configuration decides where a charge goes.
TEST(Transfers, a_proxy_of_the_environment_gets_no_request) {
    const auto answers = [](RawServer& to, RawSocket& socket) {
        to.saw(socket.read_message());
        socket.send(ok);
    };
    RawServer server{answers};
    RawServer proxy{answers};
    const std::vector<std::string> names{"http_proxy", "all_proxy", "ALL_PROXY"};
    for (const auto& name : names) ::setenv(name.c_str(), proxy.url().c_str(), 1);

    Transfers transfers;
    const auto sent = transfers.perform(post_to(server.url()));

    for (const auto& name : names) ::unsetenv(name.c_str());
    EXPECT_EQ(verdict(sent), "200");
    EXPECT_EQ(server.seen().size(), 1U);
    EXPECT_EQ(proxy.connections(), 0);
}

TEST(Transfers, a_refused_or_unresolved_request_was_not_sent) {
    Transfers transfers;

    EXPECT_EQ(
        verdict(
            transfers.perform(post_to("http://127.0.0.1:" + std::to_string(testing::closed_port())))
        ),
        "not sent"
    );
    EXPECT_EQ(verdict(transfers.perform(post_to("http://no-such-host.invalid"))), "not sent");
    EXPECT_EQ(verdict(transfers.perform(post_to("gopher://127.0.0.1"))), "not sent");
    EXPECT_EQ(verdict(transfers.perform(post_to("no url at all"))), "not sent");
}

TEST(Transfers, a_failure_of_tls_comes_before_the_request) {
    RawServer server{[](RawServer& self, RawSocket& socket) {
        self.saw(socket.read_exactly(5));
        socket.send("220 I speak something else\r\n");
    }};
    Transfers transfers;

    const auto sent =
        transfers.perform(post_to("https://127.0.0.1:" + std::to_string(server.port())));

    EXPECT_EQ(verdict(sent), "not sent");
    ASSERT_EQ(server.seen().size(), 1U);
    EXPECT_EQ(server.seen()[0][0], '\x16');  // A TLS handshake record and no request.
}

TEST(Transfers, an_answer_that_is_not_whole_is_lost) {
    struct Case {
        std::string name;
        std::string answer;
        bool reset;
    };
    const std::vector<Case> cases{
        {"nothing", "", false},
        {"nothing, reset", "", true},
        {"half a head", "HTTP/1.1 200 OK\r\nContent-Le", false},
        {"half a body", "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf", false},
        {"half a body, reset", "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf", true},
        {"half a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n14\r\nhalf", false},
        {"no last chunk",
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
         false},
        {"no HTTP", "I am no server of HTTP at all, dear client\r\n\r\n", false},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.name);
        RawServer server{[&c](RawServer&, RawSocket& socket) {
            socket.read_message();
            socket.send(c.answer);
            if (c.reset) socket.reset();
        }};
        Transfers transfers;

        EXPECT_EQ(verdict(transfers.perform(post_to(server.url()))), "lost");
    }
}

TEST(Transfers, chunks_with_a_trailer_are_a_whole_answer) {
    RawServer server{[](RawServer&, RawSocket& socket) {
        socket.read_message();
        socket.send(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n"
        );
    }};
    Transfers transfers;

    const auto sent = transfers.perform(post_to(server.url()));

    ASSERT_EQ(verdict(sent), "200");
    EXPECT_EQ(std::get<IncomingResponse>(sent).body, "ok");
}

TEST(Transfers, reads_an_answer_up_to_its_limit_and_no_further) {
    RawServer server{[](RawServer&, RawSocket& socket) {
        while (!socket.read_message().empty())
            socket.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + std::string(1000, 'x'));
    }};
    Transfers transfers;
    auto fits = post_to(server.url());
    fits.answer_max = 1000;
    auto short_by_one = fits;
    short_by_one.answer_max = 999;

    EXPECT_EQ(verdict(transfers.perform(fits)), "200");
    EXPECT_EQ(verdict(transfers.perform(short_by_one)), "lost");
}

TEST(Transfers, headers_without_end_are_cut_off) {
    RawServer server{[](RawServer&, RawSocket& socket) {
        socket.read_message();
        socket.send("HTTP/1.1 200 OK\r\n");
        const std::string line = "X: " + std::string(10'000, 'x') + "\r\n";
        for (int i = 0; i < 1'000; ++i)
            if (!socket.send(line)) return;
        socket.send("Content-Length: 0\r\n\r\n");
    }};
    Transfers transfers;

    EXPECT_EQ(verdict(transfers.perform(post_to(server.url()))), "lost");
}

// A server that accepts and never answers: with TLS the request was not sent, with plain HTTP it
// was.
TEST(Transfers, after_a_time_out_it_is_known_whether_the_request_was_sent) {
    RawServer server{[](RawServer&, RawSocket& socket) { socket.read_all(); }};
    Transfers transfers;
    auto plain = post_to(server.url());
    plain.timeout = 100ms;
    auto tls = post_to("https://127.0.0.1:" + std::to_string(server.port()));
    tls.timeout = 100ms;
    auto connecting = tls;
    connecting.timeout = 20s;
    connecting.connect_timeout = 100ms;

    EXPECT_EQ(verdict(transfers.perform(plain)), "lost");
    EXPECT_EQ(verdict(transfers.perform(tls)), "not sent");
    EXPECT_EQ(verdict(transfers.perform(connecting)), "not sent");
}

TEST(Transfers, sends_the_method_the_body_and_the_headers_that_were_asked_for) {
    struct Case {
        std::string method;
        std::string body;
        std::string first_line;
        std::string must_have;
    };
    const std::vector<Case> cases{
        {"GET", "", "GET /charges HTTP/1.1\r\n", "Host: 127.0.0.1:"},
        {"GET", "q=1", "GET /charges HTTP/1.1\r\n", "Content-Length: 3\r\n"},
        {"POST", "", "POST /charges HTTP/1.1\r\n", "Content-Length: 0\r\n"},
        {"PUT", "", "PUT /charges HTTP/1.1\r\n", "Content-Length: 0\r\n"},
        {"PUT", "a=b", "PUT /charges HTTP/1.1\r\n", "\r\n\r\na=b"},
        {"DELETE", "", "DELETE /charges HTTP/1.1\r\n", "X-Empty:\r\n"},
        {"PATCH", "x", "PATCH /charges HTTP/1.1\r\n", "X-One: 1\r\n"},
    };
    RawServer server{[](RawServer& self, RawSocket& socket) {
        while (true) {
            auto request = socket.read_message();
            if (request.empty()) return;
            self.saw(std::move(request));
            socket.send(ok);
        }
    }};
    Transfers transfers;
    for (const auto& c : cases) {
        SCOPED_TRACE(c.method + " " + c.body);
        auto request = post_to(server.url(), c.body);
        request.method = c.method;
        request.headers = {{"X-One", "1"}, {"X-Empty", ""}};

        ASSERT_EQ(verdict(transfers.perform(std::move(request))), "200");

        EXPECT_TRUE(server.seen().back().starts_with(c.first_line)) << server.seen().back();
        EXPECT_NE(server.seen().back().find(c.must_have), std::string::npos)
            << server.seen().back();
        EXPECT_EQ(server.seen().back().find("Expect:"), std::string::npos);
    }
}

TEST(Transfers, a_head_answer_has_no_body_to_wait_for) {
    RawServer server{[](RawServer&, RawSocket& socket) {
        socket.read_message();
        socket.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
        socket.read_all();
    }};
    Transfers transfers;

    EXPECT_EQ(verdict(transfers.perform({.method = "HEAD", .url = server.url()})), "200");
}

TEST(Transfers, a_header_that_could_split_the_request_is_not_sent) {
    RawServer server{take_post_and_close};
    Transfers transfers;
    auto request = post_to(server.url());
    request.headers = {{"X-Name", "Jane\r\nIdempotency-Key: other"}};

    EXPECT_EQ(verdict(transfers.perform(std::move(request))), "not sent");
    EXPECT_EQ(server.connections(), 0);
}

TEST(Transfers, a_header_with_a_control_character_or_without_a_name_is_not_sent) {
    RawServer server{take_post_and_close};
    Transfers transfers;
    auto method = post_to(server.url());
    method.method = "POST / HTTP/1.1\r\nX:";
    auto name = post_to(server.url());
    name.headers = {{"X-Name:\x7f", "Jane"}};
    auto nameless = post_to(server.url());
    nameless.headers = {{"", "Jane"}};

    for (auto* request : {&method, &name, &nameless})
        EXPECT_EQ(verdict(transfers.perform(std::move(*request))), "not sent");
    EXPECT_EQ(server.connections(), 0);
}

TEST(Transfers, a_redirect_is_an_answer_and_is_not_followed) {
    RawServer server{[](RawServer& self, RawSocket& socket) {
        while (true) {
            auto request = socket.read_message();
            if (request.empty()) return;
            self.saw(std::move(request));
            socket.send(
                "HTTP/1.1 307 Temporary Redirect\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n"
            );
        }
    }};
    Transfers transfers;

    const auto sent = transfers.perform(post_to(server.url()));

    ASSERT_EQ(verdict(sent), "307");
    EXPECT_EQ(std::get<IncomingResponse>(sent).header("LOCATION"), "/other");
    EXPECT_EQ(server.seen().size(), 1U);
}

TEST(Transfers, headers_are_those_of_the_last_answer) {
    RawServer server{[](RawServer&, RawSocket& socket) {
        socket.read_message();
        socket.send(
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: "
            "2\r\n\r\nok"
        );
    }};
    Transfers transfers;

    const auto sent = transfers.perform(post_to(server.url()));

    ASSERT_EQ(verdict(sent), "200");
    EXPECT_EQ(std::get<IncomingResponse>(sent).header("Link"), std::nullopt);
}

TEST(Transfers, many_at_once_each_get_their_own_answer) {
    RawServer server{[](RawServer&, RawSocket& socket) {
        while (true) {
            const auto request = socket.read_message();
            if (request.empty()) return;
            const auto body = request.substr(request.find("\r\n\r\n") + 4);
            socket.send(
                "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                body
            );
        }
    }};
    constexpr int count = 500;
    std::atomic<int> right{0};
    std::atomic<int> ended{0};
    std::promise<void> all;
    Transfers transfers{32};

    for (int i = 0; i < count; ++i) {
        const auto body = "number " + std::to_string(i);
        transfers.start(post_to(server.url(), body), [&, body](Sent sent) {
            const auto* arrived = std::get_if<IncomingResponse>(&sent);
            if (arrived != nullptr && arrived->body == body) ++right;
            if (++ended == count) all.set_value();
        });
    }

    ASSERT_EQ(all.get_future().wait_for(30s), std::future_status::ready);
    EXPECT_EQ(right, count);
    EXPECT_LE(server.connections(), 32);
}

TEST(Transfers, a_stop_ends_a_transfer_at_once) {
    std::promise<void> taken;
    RawServer server{[&](RawServer&, RawSocket& socket) {
        socket.read_message();
        taken.set_value();
        socket.read_all();
    }};
    Transfers transfers;
    std::stop_source stop;
    auto sent = std::async(std::launch::async, [&] {
        return transfers.perform(post_to(server.url()), stop.get_token());
    });
    ASSERT_EQ(taken.get_future().wait_for(10s), std::future_status::ready);

    stop.request_stop();

    ASSERT_EQ(sent.wait_for(5s), std::future_status::ready);
    EXPECT_EQ(verdict(sent.get()), "lost");
}

TEST(Transfers, a_transfer_stopped_before_its_begin_was_not_sent) {
    RawServer server{take_post_and_close};
    Transfers transfers;
    std::stop_source stop;
    stop.request_stop();

    EXPECT_EQ(verdict(transfers.perform(post_to(server.url()), stop.get_token())), "not sent");
    EXPECT_EQ(count_of(server.seen(), "POST"), 0);
}

TEST(Transfers, a_request_that_may_not_be_sent_any_more_leaves_nothing_on_its_connection) {
    RawServer server{take_post_and_close};
    Transfers transfers;
    auto late = post_to(server.url());
    late.may_send = [] { return false; };

    EXPECT_EQ(verdict(transfers.perform(late)), "not sent");
    EXPECT_EQ(count_of(server.seen(), "POST"), 0);
}

TEST(Transfers, the_destructor_ends_all_exchanges_in_flight) {
    std::promise<void> taken;
    RawServer server{[&](RawServer&, RawSocket& socket) {
        socket.read_message();
        taken.set_value();
        socket.read_all();
    }};
    auto transfers = std::make_unique<Transfers>();
    std::promise<std::string> ended;
    transfers->start(post_to(server.url()), [&](Sent sent) { ended.set_value(verdict(sent)); });
    ASSERT_EQ(taken.get_future().wait_for(10s), std::future_status::ready);

    transfers.reset();

    auto end = ended.get_future();
    ASSERT_EQ(end.wait_for(0s), std::future_status::ready);
    EXPECT_EQ(end.get(), "lost");
}

TEST(Transfers, nothing_is_sent_after_the_destructor_began) {
    RawServer server{take_post_and_close};
    std::vector<std::string> ends;
    {
        Transfers transfers;
        for (int i = 0; i < 20; ++i)
            transfers.start(post_to(server.url()), [&](Sent sent) {
                ends.push_back(verdict(sent));
            });
    }

    // Exchanges that had begun are lost; each call ends, and a request that the server received
    // never ends as not sent.
    ASSERT_EQ(ends.size(), 20U);
    const auto lost = std::count(ends.begin(), ends.end(), "lost");
    EXPECT_LE(count_of(server.seen(), "POST"), lost);
}

}  // namespace
}  // namespace pawl::http
