#include <pawl/client.hpp>
#include <pawl/testing.hpp>

#include "src/http/testing/raw_server.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

namespace pawl {
namespace {

using namespace std::chrono_literals;
using http::testing::RawServer;
using http::testing::RawSocket;

std::string answer(int status, const std::string& body, const std::string& headers = "") {
    return "HTTP/1.1 " + std::to_string(status) + " X\r\n" + headers +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

ClientOptions quick(const RawServer& server) {
    return {.url = server.url(), .wait_first = 1ms, .wait_max = 10ms, .breaker_failures = 0};
}

TEST(ClientKey, a_client_key_is_what_a_server_accepts) {
    EXPECT_EQ(ClientKey::saved("order-17").text(), "order-17");
    for (const std::string text : {"", "a b", "\"a\"", "a;b", "a,b", "ä"})
        EXPECT_THROW(ClientKey::saved(text), std::invalid_argument) << text;
    EXPECT_NO_THROW(ClientKey::saved(std::string(255, 'a')));
    EXPECT_THROW(ClientKey::saved(std::string(256, 'a')), std::invalid_argument);
}

TEST(EntityKey, equal_parts_give_equal_keys_and_different_parts_never) {
    EXPECT_EQ(entity_key("payment", 1234, "refund").text(), "payment/1234/refund");
    EXPECT_EQ(entity_key("payment", "1234", "refund"), entity_key("payment", 1234, "refund"));
    EXPECT_EQ(entity_key("payment", -1, "refund").text(), "payment/-1/refund");
    EXPECT_EQ(entity_key("a/b", "c", "d").text(), "a%2Fb/c/d");
    EXPECT_EQ(entity_key("a", "ä %", "d").text(), "a/%C3%A4%20%25/d");
    EXPECT_NE(entity_key("a/b", "c", "d"), entity_key("a", "b/c", "d"));
    EXPECT_NE(entity_key("a%2Fb", "c", "d"), entity_key("a/b", "c", "d"));
    EXPECT_THROW(entity_key("payment", "", "refund"), std::invalid_argument);
    EXPECT_THROW(entity_key("payment", std::string(250, '1'), "refund"), std::invalid_argument);
}

TEST(Client, sends_a_post_with_its_key_until_there_is_an_answer) {
    RawServer server{[](RawServer& self, RawSocket& socket) {
        self.saw(socket.read_message());
        if (self.connections() == 1) return socket.reset();
        socket.send(answer(201, "{}", "Idempotent-Replayed: true\r\nX-A: b\r\n"));
    }};
    auto options = quick(server);
    options.headers = {{"Authorization", "Bearer t"}};
    Client client{options};

    const auto ended = client.post("/rides?x=1", R"({"a":1})", ClientKey::saved("k-1"));

    const auto& answered = std::get<Answered>(ended);
    EXPECT_EQ(answered.status, 201);
    EXPECT_EQ(answered.body, "{}");
    EXPECT_EQ(answered.header("x-a"), "b");
    EXPECT_TRUE(answered.replayed);
    EXPECT_EQ(answered.tries, 2);
    const auto seen = server.seen();
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_EQ(seen[0], seen[1]);
    for (const auto* line :
         {"POST /rides?x=1 HTTP/1.1\r\n",
          "\r\nIdempotency-Key: k-1\r\n",
          "\r\nAuthorization: Bearer t\r\n",
          "\r\nContent-Type: application/json\r\n",
          "{\"a\":1}"})
        EXPECT_NE(seen[0].find(line), std::string::npos) << line;
}

TEST(Client, without_a_key_only_idempotent_methods_are_repeated) {
    struct Case {
        std::string method;
        std::size_t sent;
    };
    for (const auto& c : std::vector<Case>{
             {"GET", 3},
             {"HEAD", 3},
             {"PUT", 3},
             {"DELETE", 3},
             {"OPTIONS", 3},
             {"POST", 1},
             {"PATCH", 1},
             {"FROB", 1}}) {
        RawServer server{[](RawServer& self, RawSocket& socket) {
            self.saw(socket.read_message());
            socket.close();
        }};
        Client client{quick(server)};

        const auto ended = client.send_once({.method = c.method, .target = "/"});

        EXPECT_TRUE(std::get<GaveUp>(ended).in_doubt) << c.method;
        EXPECT_EQ(server.seen().size(), c.sent) << c.method;
    }
}

TEST(Client, under_a_call_tries_each_request_once) {
    RawServer server{[](RawServer& self, RawSocket& socket) {
        self.saw(socket.read_message());
        socket.close();
    }};
    Client client{quick(server)};
    testing::FakeCall call;

    const auto lost = client.send_once(call.plain(), {.target = "/"});
    const auto not_sent = client.perform(call.keyed(), {.target = "http://127.0.0.1:1/"});
    const auto lost_too =
        client.perform(call.plain(), {.target = "/"}, ClientKey::saved("kept-by-us"));

    EXPECT_TRUE(std::get<GaveUp>(lost).in_doubt);
    EXPECT_EQ(std::get<GaveUp>(lost).why.substr(0, 6), "lost: ");
    EXPECT_TRUE(std::get<GaveUp>(lost_too).in_doubt);
    ASSERT_EQ(server.seen().size(), 2U);
    EXPECT_NE(server.seen()[1].find("\r\nIdempotency-Key: kept-by-us\r\n"), std::string::npos);
    EXPECT_FALSE(std::get<GaveUp>(not_sent).in_doubt);
    EXPECT_EQ(std::get<GaveUp>(not_sent).tries, 1);
}

TEST(Client, a_target_may_be_a_whole_url) {
    RawServer server{[](RawServer&, RawSocket& socket) {
        socket.read_message();
        socket.send(answer(200, "here"));
    }};
    Client client{{.url = "http://127.0.0.1:1"}};

    EXPECT_EQ(std::get<Answered>(client.get(server.url() + "/a")).body, "here");
}

// Found by reading: "@elsewhere/" addressed another server, with the credentials.
TEST(Client, credentials_go_only_to_their_own_server) {
    const auto take = [](RawServer& self, RawSocket& socket) {
        self.saw(socket.read_message());
        socket.send(answer(200, "{}"));
    };
    RawServer own{take};
    RawServer other{take};
    auto options = quick(own);
    options.headers = {{"Authorization", "Bearer t"}};
    Client client{options};

    (void)client.get("/a");
    (void)client.get(other.url() + "/a");

    EXPECT_NE(own.seen().at(0).find("\r\nAuthorization: Bearer t\r\n"), std::string::npos);
    EXPECT_EQ(other.seen().at(0).find("Bearer"), std::string::npos);
    for (const auto* target : {"@evil/", ".evil/", "rides", "1/", "#a"})
        EXPECT_THROW((void)client.get(target), std::invalid_argument) << target;
    EXPECT_EQ(std::get<Answered>(client.get("?a=1")).status, 200);
    EXPECT_EQ(std::get<Answered>(client.get("")).status, 200);
}

TEST(Client, sends_one_content_type) {
    RawServer server{[](RawServer& self, RawSocket& socket) {
        self.saw(socket.read_message());
        socket.send(answer(200, "{}"));
    }};
    Client client{quick(server)};

    (void)client.perform(
        {.method = "POST", .target = "/", .headers = {{"content-type", "text/csv"}}, .body = "1,2"},
        ClientKey::saved("k")
    );

    EXPECT_NE(server.seen().at(0).find("\r\ncontent-type: text/csv\r\n"), std::string::npos);
    EXPECT_EQ(server.seen().at(0).find("application/json"), std::string::npos);
}

TEST(Client, a_call_of_an_operation_goes_under_its_key) {
    RawServer server{[](RawServer& self, RawSocket& socket) {
        self.saw(socket.read_message());
        socket.send(answer(200, "{}"));
    }};
    Client client{quick(server)};
    testing::FakeCall call;

    (void)client.perform(call.keyed(), {.method = "POST", .target = "/charges", .body = "{}"});

    EXPECT_NE(
        server.seen().at(0).find("\r\nIdempotency-Key: " + call.keyed().key().text + "\r\n"),
        std::string::npos
    );
}

// Each call had a connection of its own, and at a real provider a TLS handshake.
TEST(Client, keyed_calls_of_operations_share_a_connection) {
    RawServer server{[](RawServer&, RawSocket& socket) {
        while (!socket.read_message().empty()) socket.send(answer(200, "{}"));
    }};
    Client client{quick(server)};

    for (int i = 0; i < 3; ++i) {
        testing::FakeCall call;
        const auto charged = client.perform(call.keyed(), {.method = "POST"});
        EXPECT_TRUE(std::holds_alternative<Answered>(charged));
    }
    EXPECT_EQ(server.connections(), 1);

    // Its step may be one that is never repeated.
    testing::FakeCall call;
    (void)client.send_once(call.plain(), {.method = "PUT"});
    (void)client.perform(call.plain(), {.method = "POST"}, ClientKey::saved("k"));
    EXPECT_EQ(server.connections(), 3);
}

// libcurl sends it again by itself if a kept connection ends without an answer.
TEST(Client, a_post_without_a_key_uses_no_kept_connection) {
    RawServer server{[](RawServer& self, RawSocket& socket) {
        while (true) {
            const auto request = socket.read_message();
            if (request.empty()) return;
            self.saw(request);
            if (request.starts_with("POST")) return;
            socket.send(answer(200, "{}"));
        }
    }};
    Client client{quick(server)};
    ASSERT_TRUE(std::holds_alternative<Answered>(client.get("/")));

    const auto ended = client.send_once({.method = "POST"});

    EXPECT_TRUE(std::get<GaveUp>(ended).in_doubt);
    EXPECT_EQ(server.seen().size(), 2U);
}

TEST(Client, refuses_a_key_among_the_headers) {
    Client client{{.url = "http://127.0.0.1:1"}};

    EXPECT_THROW(
        client.perform(
            {.method = "POST", .target = "/", .headers = {{"idempotency-key", "a"}}},
            ClientKey::saved("b")
        ),
        std::invalid_argument
    );
}

TEST(Client, refuses_options_with_a_problem) {
    const auto problem = [](ClientOptions options) { return options.problem().value_or("none"); };
    EXPECT_EQ(problem({}), "none");
    EXPECT_EQ(problem({.url = "ftp://a"}), "url is ftp://a: http:// or https://, and a host");
    EXPECT_EQ(
        problem({.url = "ftp://me:secret@a"}),
        "url is no address of http: http:// or https://, and a host"
    );
    EXPECT_EQ(problem({.timeout = 0ms}), "timeout is 0 ms: 1 to 86400000");
    EXPECT_EQ(problem({.deadline = 25h}), "deadline is 90000000 ms: 1 to 86400000");
    EXPECT_EQ(
        problem({.deadline = std::chrono::milliseconds::max()}),
        "deadline is 9223372036854775807 ms: 1 to 86400000"
    );
    EXPECT_EQ(problem({.wait_first = 0ms}), "wait_first is 0 ms: 1 to 86400000");
    EXPECT_EQ(problem({.wait_max = 1ms}), "wait_max is 1 ms: 500 to 86400000");
    EXPECT_EQ(problem({.breaker_wait_max = 1ms}), "breaker_wait_max is 1 ms: 1000 to 86400000");
    EXPECT_EQ(
        problem({.headers = {{"idempotency-key", "a"}}}),
        "headers has an Idempotency-Key: a key is given as a ClientKey"
    );
    EXPECT_EQ(problem({.tries_max = 0}), "tries_max is 0: at least 1");
    EXPECT_EQ(problem({.budget_per_s = 0}), "budget_per_s is 0.000000: 0.001 to 1000000");
    EXPECT_EQ(
        problem({.breaker_failures = -1}), "breaker_failures is -1: 1 to 1000000, or 0 for never"
    );
    EXPECT_EQ(problem({.connections_max = 0}), "connections_max is 0: 1 to 100000");
    EXPECT_THROW(Client{{.tries_max = 0}}, std::invalid_argument);
}

TEST(Client, calls_back_for_each_of_many_requests_over_losses) {
    std::atomic<int> n{0};
    RawServer server{[&](RawServer&, RawSocket& socket) {
        while (true) {
            if (socket.read_message().empty()) return;
            if (++n % 3 == 0) return socket.close();
            if (!socket.send(answer(201, "{}"))) return;
        }
    }};
    auto options = quick(server);
    options.tries_max = 50;
    options.budget_per_s = 1e6;
    std::vector<std::promise<ClientResult>> ended(200);
    {
        Client client{options};
        for (std::size_t i = 0; i < ended.size(); ++i)
            client.start(
                {.method = "POST", .target = "/", .body = "{}"},
                ClientKey::saved("k-" + std::to_string(i)),
                [&, i](ClientResult end) { ended[i].set_value(std::move(end)); }
            );
        for (auto& each : ended) EXPECT_EQ(std::get<Answered>(each.get_future().get()).status, 201);
    }
}

// One is being tried, one waits for its repeat.
TEST(Client, its_end_calls_back_for_all_requests_in_flight) {
    std::promise<void> tried;
    RawServer slow{[&](RawServer&, RawSocket& socket) {
        socket.read_message();
        tried.set_value();
        socket.read_all();
    }};
    std::promise<void> waits;
    std::atomic<bool> told{false};  // Later also by the other one.
    std::promise<ClientResult> first;
    std::promise<ClientResult> second;
    {
        Client client{
            {.deadline = 1h,
             .wait_first = 1min,
             .wait_max = 1min,
             .on_try = [&](const ClientTry& one) {
                 if (one.again_in && !told.exchange(true)) waits.set_value();
             }}};
        client.start(
            {.method = "POST", .target = slow.url()},
            ClientKey::saved("k-1"),
            [&](ClientResult end) { first.set_value(std::move(end)); }
        );
        client.start(
            {.method = "POST",
             .target = "http://127.0.0.1:" + std::to_string(http::testing::closed_port())},
            ClientKey::saved("k-2"),
            [&](ClientResult end) { second.set_value(std::move(end)); }
        );
        tried.get_future().wait();
        waits.get_future().wait();
    }
    EXPECT_TRUE(std::get<GaveUp>(first.get_future().get()).in_doubt);
    EXPECT_FALSE(std::get<GaveUp>(second.get_future().get()).in_doubt);
}

}  // namespace
}  // namespace pawl
