#include "src/http/listener.hpp"

#include "src/http/testing/listening.hpp"
#include "src/http/testing/raw_server.hpp"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace pawl::http {
namespace {

using testing::Listening;
using testing::RawSocket;
using namespace testing::requests;

TEST(Listener, answers_several_requests_on_one_connection) {
    Listening server;
    auto client = server.connect();

    for (const std::string text : {"one", "two", "three"}) {
        client.send(post("/echo", text));
        const auto answer = client.read_message();
        EXPECT_EQ(status_of(answer), "200");
        EXPECT_EQ(body_of(answer), "POST /echo " + text);
        EXPECT_NE(answer.find("\r\nConnection: keep-alive\r\n"), std::string::npos);
        EXPECT_NE(answer.find("\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"), std::string::npos);
    }
}

// RFC 9112, 3.2.2.
TEST(Listener, serves_the_path_of_an_absolute_target) {
    Listening server;
    auto client = server.connect();

    client.send("POST http://b/echo?x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi");

    EXPECT_EQ(body_of(client.read_message()), "POST /echo hi");
}

TEST(Listener, answers_pipelined_requests_in_their_order) {
    Listening server;
    auto client = server.connect();
    client.send(post("/later", "x") + post("/echo", "second") + get_echo);
    auto later = server.take_later();
    ASSERT_TRUE(later);

    (*later)(Reply{.body = "first"});

    EXPECT_EQ(body_of(client.read_message()), "first");
    EXPECT_EQ(body_of(client.read_message()), "POST /echo second");
    EXPECT_EQ(body_of(client.read_message()), "GET /echo ");
}

TEST(Listener, a_request_may_come_byte_by_byte) {
    Listening server;
    auto client = server.connect();

    for (const char c : post("/echo", "slow")) client.send(std::string_view{&c, 1});

    EXPECT_EQ(body_of(client.read_message()), "POST /echo slow");
}

TEST(Listener, empty_lines_before_a_request_are_skipped) {
    Listening server;

    EXPECT_EQ(status_of(server.ask("\r\n\r\n" + get_echo)), "200");
}

TEST(Listener, closes_after_the_answer_if_the_client_or_its_version_asks_for_it) {
    Listening server;
    struct Case {
        std::string name;
        std::string request;
        bool closes;
    };
    const std::vector<Case> cases{
        {"1.1", get_echo, false},
        {"1.1, close", "GET /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", true},
        {"1.0", "GET /echo HTTP/1.0\r\n\r\n", true},
        {"1.0, keep-alive", "GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.name);
        auto client = server.connect();
        client.send(c.request);
        const auto first = client.read_message();
        EXPECT_EQ(status_of(first), "200");
        EXPECT_EQ(first.find("\r\nConnection: close\r\n") != first.npos, c.closes);

        client.send(get_echo);

        EXPECT_EQ(client.read_message().empty(), c.closes);
    }
}

TEST(Listener, a_head_answer_has_the_length_and_no_body) {
    Listening server;
    auto client = server.connect();
    client.send("HEAD /echo HTTP/1.1\r\nHost: a\r\n\r\n" + get_echo);

    const auto head = client.read_until("\r\n\r\n");

    EXPECT_NE(head.find("\r\nContent-Length: 11\r\n"), std::string::npos) << head;  // "HEAD /echo "
    EXPECT_EQ(body_of(client.read_message()), "GET /echo ");
}

TEST(Listener, an_error_after_a_head_request_still_has_its_body) {
    Listening server;
    auto client = server.connect();
    client.send("HEAD /echo HTTP/1.1\r\nHost: a\r\n\r\n");
    client.read_until("\r\n\r\n");

    client.send("no request at all\r\n\r\n");

    const auto answer = client.read_message();
    EXPECT_EQ(status_of(answer), "400");
    EXPECT_EQ(body_of(answer), "The target must be a path.");
}

TEST(Listener, no_content_has_no_length) {
    Listening server;

    const auto answer = server.ask("GET /empty HTTP/1.1\r\nHost: a\r\n\r\n");

    EXPECT_EQ(status_of(answer), "204");
    EXPECT_EQ(answer.find("Content-Length"), std::string::npos);
}

TEST(Listener, says_continue_before_it_waits_for_the_body) {
    Listening server;
    auto client = server.connect();
    client.send(
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"
    );

    EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("body");
    EXPECT_EQ(body_of(client.read_message()), "POST /echo body");
}

TEST(Listener, says_continue_without_regard_to_case_and_never_to_http_1_0) {
    Listening server;
    const std::string fields = "\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-Continue\r\n\r\n";
    auto client = server.connect();
    client.send("POST /echo HTTP/1.1" + fields);
    EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");

    auto old = server.connect();
    old.send("POST /echo HTTP/1.0" + fields);
    // Sent later: for a body that is there already the response comes alone.
    ASSERT_EQ(status_of(server.ask(testing::requests::get_echo)), "200");
    old.send("body");
    EXPECT_EQ(status_of(old.read_message()), "200");
}

TEST(Listener, closes_if_any_of_several_connection_headers_asks_for_it) {
    Listening server;
    auto client = server.connect();
    client.send(
        "GET /echo HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n"
    );

    EXPECT_NE(client.read_all().find("\r\nConnection: close\r\n"), std::string::npos);
}

TEST(Listener, refuses_a_forbidden_head_instead_of_saying_continue) {
    Listening server;
    auto client = server.connect();
    client.send(
        "POST /forbidden HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"
    );

    EXPECT_EQ(status_of(client.read_message()), "403");
    EXPECT_EQ(server.requests(), 0);
}

TEST(Listener, reads_chunks_with_extensions_and_trailers) {
    Listening server;
    const std::string head = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

    const auto plain = server.ask(head + "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n");
    const auto rich =
        server.ask(head + "A;name=\"value\"\r\n0123456789\r\n0\r\nHost: evil\r\nX-Sum: 1\r\n\r\n");

    EXPECT_EQ(body_of(plain), "POST /echo hello!");
    EXPECT_EQ(body_of(rich), "POST /echo 0123456789");
    EXPECT_NE(rich.find("\r\nX-Host: a\r\n"), std::string::npos);  // A trailer is not a header.
}

TEST(Listener, refuses_requests_over_a_limit_and_accepts_those_at_it) {
    Listening server{
        {.limits = {
             .line_max = 256, .headers_max = 1024, .headers_count_max = 4, .body_max = 100}}};
    const std::string version = " HTTP/1.1\r\n";
    auto line_of = [&](std::size_t size) {
        return "GET /" + std::string(size - 5 - 9, 'a') + version;
    };
    auto headers_of = [](std::size_t size) {
        const std::string fixed = "Host: a\r\nX: \r\n\r\n";
        return "Host: a\r\nX: " + std::string(size - fixed.size(), 'x') + "\r\n\r\n";
    };
    struct Case {
        std::string name;
        std::string request;
        std::string status;
    };
    const std::string chunked =
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    const std::vector<Case> cases{
        {"line at the limit", line_of(256) + "Host: a\r\n\r\n", "200"},
        {"line over it", line_of(257) + "Host: a\r\n\r\n", "414"},
        {"line without end", "GET /" + std::string(400, 'a'), "414"},
        {"headers under the limit", "GET /echo HTTP/1.1\r\n" + headers_of(1000), "200"},
        {"headers over it", "GET /echo HTTP/1.1\r\n" + headers_of(1100), "431"},
        {"headers without end", "GET /echo HTTP/1.1\r\nX: " + std::string(3000, 'x'), "431"},
        {"four headers", "GET /echo HTTP/1.1\r\nHost: a\r\nA: 1\r\nB: 1\r\nC: 1\r\n\r\n", "200"},
        {"five headers",
         "GET /echo HTTP/1.1\r\nHost: a\r\nA: 1\r\nB: 1\r\nC: 1\r\nD: 1\r\n\r\n",
         "431"},
        {"body at the limit", post("/echo", std::string(100, 'b')), "200"},
        {"body over it", post("/echo", std::string(101, 'b')), "413"},
        {"body over it, announced only",
         "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n",
         "413"},
        {"body far over it",
         "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999999999999\r\n\r\n",
         "413"},
        {"chunks at the limit",
         chunked + "64\r\n" + std::string(100, 'b') + "\r\n0\r\n\r\n",
         "200"},
        {"chunks over it",
         chunked + "64\r\n" + std::string(100, 'b') + "\r\n1\r\nb\r\n0\r\n\r\n",
         "413"},
        {"no length", "POST /echo HTTP/1.1\r\nHost: a\r\n\r\n", "200"},
        {"no length, PATCH", "PATCH /echo HTTP/1.1\r\nHost: a\r\n\r\n", "200"},
        {"no length, DELETE", "DELETE /echo HTTP/1.1\r\nHost: a\r\n\r\n", "200"},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.name);
        EXPECT_EQ(status_of(server.ask(c.request)), c.status);
    }
}

TEST(Listener, an_early_refusal_reaches_a_client_that_is_still_sending) {
    Listening server{{.limits = {.body_max = 1000}}};
    auto client = server.connect();
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
    client.send(std::string(1'000'000, 'b'));

    EXPECT_EQ(status_of(client.read_message()), "413");
}

TEST(Listener, a_chunk_extension_without_end_is_refused) {
    Listening server;
    auto client = server.connect();
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;x=");

    for (int i = 0; i < 16; ++i) client.send(std::string(64 * 1024, 'x'));

    // Rejection while the extension is still coming, so it is not kept in memory.
    EXPECT_EQ(status_of(client.read_message()), "400");
}

TEST(Listener, headers_that_come_too_slowly_are_refused) {
    Listening server{{.limits = {.header_timeout = 100ms}}};
    auto client = server.connect();
    client.send("GET /echo HTTP/1.1\r\nHo");

    EXPECT_EQ(status_of(client.read_message()), "408");
    EXPECT_TRUE(client.read_all().empty());
}

TEST(Listener, a_bare_lf_is_refused_at_once) {
    Listening server{{.limits = {.header_timeout = 5min}}};
    for (const std::string bytes :
         {"GET /echo HTTP/1.1\nHost: a\n\n", "GET /echo HTTP/1.1\r\nHost: a\n\r\n"}) {
        SCOPED_TRACE(bytes);
        auto client = server.connect();
        client.send(bytes);

        EXPECT_EQ(status_of(client.read_message()), "400");
    }
}

TEST(Listener, a_body_that_comes_too_slowly_is_refused) {
    Listening server{{.limits = {.body_rate_min = 1'000'000, .body_grace = 50ms}}};
    auto client = server.connect();
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nsome");

    EXPECT_EQ(status_of(client.read_message()), "408");
}

TEST(Listener, an_idle_connection_is_closed_and_a_busy_one_is_not) {
    Listening server{{.limits = {.idle_timeout = 100ms}}};
    auto idle = server.connect();
    auto busy = server.connect();
    busy.send(post("/later", "x"));
    auto later = server.take_later();
    ASSERT_TRUE(later);

    EXPECT_TRUE(idle.at_end());
    (*later)(Reply{.body = "still here"});
    EXPECT_EQ(body_of(busy.read_message()), "still here");
}

TEST(Listener, a_client_that_does_not_read_its_answer_is_cut_off) {
    Listening server{{.limits = {.body_rate_min = 1'000'000'000, .write_timeout = 200ms}}};
    auto client = server.connect();
    client.small_receive_buffer();
    client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    const auto first = client.read_exactly(100);

    auto other = server.connect();  // Its responses let time pass until the first is cut off.
    bool cut = false;
    const auto until = std::chrono::steady_clock::now() + 10s;
    while (!cut && std::chrono::steady_clock::now() < until) {
        other.send(get_echo);
        other.read_message();
        cut = !client.send("x");
    }

    EXPECT_EQ(status_of(first), "200");
    EXPECT_TRUE(cut);
}

TEST(Listener, a_slow_reader_gets_the_whole_of_a_large_answer) {
    Listening server{{.limits = {.write_timeout = 1ms}}};
    auto client = server.connect();
    client.small_receive_buffer();
    client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    const auto begin = client.read_exactly(1);
    // Three sweeps in which the client reads no byte.
    std::promise<void> later;
    server.listener().after(300ms, [&] { later.set_value(); });
    ASSERT_EQ(later.get_future().wait_for(10s), std::future_status::ready);

    EXPECT_EQ(body_of(begin + client.read_message()).size(), Listening::large);
}

TEST(Listener, a_client_that_closes_its_half_gets_its_answer) {
    Listening server;
    auto client = server.connect();
    client.send(post("/later", "x"));
    client.half_close();
    auto later = server.take_later();
    ASSERT_TRUE(later);

    (*later)(Reply{.body = "done"});

    EXPECT_EQ(body_of(client.read_message()), "done");
    EXPECT_TRUE(client.at_end());
}

TEST(Listener, a_client_that_disconnects_does_not_affect_others) {
    Listening server;
    {
        auto client = server.connect();
        client.send(post("/later", "x"));
        auto later = server.take_later();
        ASSERT_TRUE(later);
        client.reset();
        (*later)(Reply{.body = "to nobody"});
    }
    server.connect().send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf");

    EXPECT_EQ(status_of(server.ask(get_echo)), "200");
}

TEST(Listener, answers_come_from_many_threads) {
    Listening server;
    constexpr int count = 50;
    std::vector<RawSocket> clients;
    for (int i = 0; i < count; ++i) {
        clients.push_back(server.connect());
        clients.back().send(post("/later", "x"));
    }
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
        auto later = server.take_later();
        ASSERT_TRUE(later);
        threads.emplace_back([respond = std::move(*later)]() mutable {
            respond(Reply{.body = "from a thread"});
        });
    }
    for (auto& thread : threads) thread.join();

    for (auto& client : clients) EXPECT_EQ(body_of(client.read_message()), "from a thread");
}

TEST(Listener, a_responder_that_is_dropped_answers_500) {
    Listening server;

    EXPECT_EQ(status_of(server.ask("GET /drop HTTP/1.1\r\nHost: a\r\n\r\n")), "500");
}

TEST(Listener, names_the_address_that_is_taken_or_malformed) {
    Listening server;
    const Listener::Handlers none;
    auto why = [&](const std::string& listen) -> std::string {
        try {
            const Listener listener{{.listen = listen}, none};
        } catch (const std::system_error& failed) {
            return failed.what();
        }
        return "";
    };

    const auto taken = "127.0.0.1:" + std::to_string(server.listener().port());
    EXPECT_NE(why(taken).find(taken), std::string::npos);
    for (const std::string listen :
         {"127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:70000", "nowhere:80", ":80"})
        EXPECT_NE(why(listen).find("listen is " + listen), std::string::npos) << listen;
}

TEST(Listener, runs_a_function_after_a_wait) {
    Listening server;
    std::promise<void> ran;

    server.listener().after(1ms, [&] { ran.set_value(); });

    EXPECT_EQ(ran.get_future().wait_for(10s), std::future_status::ready);
}

TEST(ListenerOptions, names_the_option_that_is_wrong) {
    EXPECT_EQ(ListenerOptions{}.problem(), std::nullopt);
    EXPECT_EQ(
        ListenerOptions{.limits = {.line_max = 1}}.problem(), "limits.line_max is 1: 256 to 61440"
    );
    EXPECT_EQ(ListenerOptions{.connections_max = 0}.problem(), "connections_max is 0: at least 1");
    EXPECT_EQ(ListenerOptions{.threads = 0}.problem(), "threads is 0: 1 to 256");
    EXPECT_EQ(ListenerOptions{.threads = 257}.problem(), "threads is 257: 1 to 256");
    EXPECT_THROW((Listener{{.threads = 0}, {}}), std::invalid_argument);
}

}  // namespace
}  // namespace pawl::http
