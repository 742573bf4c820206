#include "src/http/body_budget.hpp"
#include "src/http/listener.hpp"
#include "src/http/testing/listening.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// Limits of what bodies may cost a listener (issue 16, number 5), and rules for where a body ends
// (number 12).
namespace pawl::http {
namespace {

using testing::Listening;
using testing::RawSocket;
using namespace testing::requests;

const std::string chunked_head =
    "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string chunk(const std::string& data) {
    constexpr std::string_view digits = "0123456789abcdef";
    return std::string{digits[data.size() / 16], digits[data.size() % 16]} + "\r\n" + data + "\r\n";
}

TEST(BodyBudget, a_charge_returns_its_bytes_to_the_budget) {
    const auto budget = std::make_shared<BodyBudget>(100);
    {
        BodyCharge one{budget};
        EXPECT_TRUE(one.grow_to(60));
        EXPECT_TRUE(one.grow_to(40));  // It never shrinks.
        BodyCharge other{budget};
        EXPECT_FALSE(other.grow_to(41));
        EXPECT_TRUE(other.grow_to(40));
        BodyCharge moved{std::move(other)};
        EXPECT_FALSE(moved.grow_to(41));
        moved = {};
        EXPECT_TRUE(one.grow_to(100));
    }
    EXPECT_TRUE(budget->has(100));
    EXPECT_FALSE(budget->has(101));
}

TEST(Listener, a_fast_first_part_does_not_allow_a_slow_rest_of_a_body) {
    Listening server{{.limits = {.body_rate_min = 1024, .body_grace = 100ms}}};
    for (const auto& [head, rest] :
         {std::pair{
              std::string{"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 500001\r\n\r\n"},
              std::string(500'000, 'b')},
          {chunked_head, "7a120\r\n" + std::string(500'000, 'b') + "\r\n"}}) {
        auto client = server.connect();
        const auto began = std::chrono::steady_clock::now();
        client.send(head + rest);

        EXPECT_EQ(status_of(client.read_message()), "408");
        EXPECT_LT(std::chrono::steady_clock::now() - began, 8s);  // Not 488 s.
    }
}

TEST(Listener, bodies_beyond_the_budget_are_refused_until_others_are_answered) {
    Listening server{{.limits = {.body_max = 100, .bodies_max = 100}}};
    auto first = server.connect();
    first.send(post("/later", std::string(60, 'a')));
    auto later = server.take_later();
    ASSERT_TRUE(later);

    EXPECT_EQ(status_of(server.ask(post("/echo", std::string(41, 'b')))), "503");
    EXPECT_EQ(status_of(server.ask(post("/echo", std::string(40, 'b')))), "200");
    EXPECT_EQ(status_of(server.ask(get_echo)), "200");
    EXPECT_EQ(
        status_of(server.ask(
            chunked_head + chunk(std::string(30, 'b')) + chunk(std::string(30, 'b')) + "0\r\n\r\n"
        )),
        "503"
    );

    (*later)(Reply{.body = "done"});
    later.reset();
    EXPECT_EQ(body_of(first.read_message()), "done");
    EXPECT_EQ(status_of(server.ask(post("/echo", std::string(100, 'b')))), "200");
}

TEST(Listener, a_route_may_have_a_smaller_body_limit_than_the_listener) {
    Listener listener{
        {.listen = "127.0.0.1:0"},
        {.on_head =
             [](const RequestHead& head) {
                 return Listener::Accepted{
                     [](const Request& request, Responder respond) {
                         respond(Reply{.body = request.body});
                     },
                     head.path == "/small" ? 4UL : 1UL << 30U};
             },
         .on_error = [](int status,
                        std::string_view,
                        const RequestHead&) { return Reply{.status = status}; },
         .date = [] { return std::string{"now"}; }}};
    listener.start();
    const auto ask = [&](const std::string& bytes) {
        auto client = RawSocket::to(listener.port());
        client.send(bytes);
        client.half_close();
        return status_of(client.read_all());
    };
    const std::string small =
        "POST /small HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

    EXPECT_EQ(ask(post("/small", "1234")), "200");
    EXPECT_EQ(ask(post("/small", "12345")), "413");
    EXPECT_EQ(ask(small + chunk("12") + chunk("34") + "0\r\n\r\n"), "200");
    EXPECT_EQ(ask(small + chunk("12") + chunk("345") + "0\r\n\r\n"), "413");
    EXPECT_EQ(ask(post("/large", std::string(5000, 'b'))), "200");
    EXPECT_EQ(ask(post("/large", std::string(1024 * 1024 + 1, 'b'))), "413");
}

TEST(Listener, padding_in_chunk_lines_counts_towards_a_limit) {
    Listening server{{.limits = {.headers_max = 1024}}};
    const auto ask = [&](const std::string& line, int count) {
        std::string chunks;
        for (int i = 0; i < count; ++i) chunks += line + "\r\nx\r\n";
        return status_of(server.ask(chunked_head + chunks + "0\r\n\r\n"));
    };
    const auto zeros = [](std::size_t count) { return std::string(count, '0') + "1"; };

    EXPECT_EQ(ask("1", 2000), "200");
    EXPECT_EQ(ask(zeros(10), 100), "200");
    EXPECT_EQ(ask(zeros(10), 103), "413");
    EXPECT_EQ(ask(zeros(1025), 1), "413");
    EXPECT_EQ(ask("1;aaaaaaaaa", 103), "413");
    EXPECT_EQ(ask(zeros(5) + ";aaaa", 103), "413");
    EXPECT_EQ(
        status_of(server.ask(chunked_head + chunk("x") + std::string(1026, '0') + "\r\n\r\n")),
        "413"
    );
}

TEST(Listener, a_post_without_a_length_has_an_empty_body_and_the_next_request_follows) {
    Listening server;
    auto client = server.connect();
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\n\r\n" + post("/echo", "next"));

    EXPECT_EQ(body_of(client.read_message()), "POST /echo ");
    EXPECT_EQ(body_of(client.read_message()), "POST /echo next");
}

TEST(Listener, an_answer_to_head_has_no_body_even_if_the_head_is_refused) {
    Listening server{{.limits = {.headers_max = 2048, .header_timeout = 500ms}}};
    const std::string host = "Host: a\r\n\r\n";
    for (const auto& [request, status] : std::vector<std::pair<std::string, std::string>>{
             {"HEAD /%zz HTTP/1.1\r\n" + host, "400"},
             {"HEAD / HTTP/1.1\r\n\r\n", "400"},
             {"HEAD / HTTP/1.1\n", "400"},
             {"HEAD /" + std::string(9000, 'a') + " HTTP/1.1\r\n" + host, "414"},
             {"HEAD / HTTP/1.1\r\nX: " + std::string(3000, 'a') + "\r\n" + host, "431"},
             {"HEAD / HTTP/9.9\r\n" + host, "505"},
             {"HEAD / HTTP/1.1\r\nHo", "408"}}) {
        SCOPED_TRACE(request.substr(0, 40));
        auto client = server.connect();
        client.send(request);

        const auto answer = client.read_all();

        EXPECT_EQ(status_of(answer), status);
        EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
        EXPECT_EQ(answer.find("Content-Length: 0\r\n"), std::string::npos);
    }
}

TEST(Listener, http_1_2_is_served_as_1_1) {
    Listening server;
    auto client = server.connect();
    for (const std::string version : {"HTTP/1.2", "HTTP/1.9"}) {
        client.send("POST /echo " + version + "\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi");
        const auto answer = client.read_message();
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 "));
        EXPECT_NE(answer.find("\r\nConnection: keep-alive\r\n"), std::string::npos);
        EXPECT_EQ(body_of(answer), "POST /echo hi");
    }
}

}  // namespace
}  // namespace pawl::http
