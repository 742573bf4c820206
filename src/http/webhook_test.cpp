#include <pawl/http.hpp>

#include "src/http/testing/answer.hpp"
#include "src/http/testing/raw_socket.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>

namespace pawl {
namespace {

using http::testing::Answer;
using http::testing::RawSocket;

// A server that authenticates nobody, with two routes for deliveries.
class WebhookRoute : public ::testing::Test {
protected:
    WebhookRoute() {
        server_.webhook("/echo", [](const WebhookDelivery& it, auto answer) {
            answer({.body = std::string{it.body}, .content_type = "text/plain"});
        });
        server_.webhook(
            "/small/{provider}",
            [this](const WebhookDelivery& it, auto answer) {
                if (it.body == "throw") throw std::runtime_error{"a bug"};
                later_ =
                    std::jthread{[answer, path = it.head.path] { answer(respond(202, path)); }};
            },
            8
        );
        service_.start();
        server_.start();
    }
    ~WebhookRoute() override {
        server_.stop(std::chrono::seconds{5});
        service_.stop(std::chrono::seconds{5});
    }
    Answer post(const std::string& path, const std::string& bytes, const std::string& head = "") {
        auto socket = RawSocket::to(server_.port());
        socket.send(
            "POST " + path + " HTTP/1.1\r\nHost: a\r\n" + head +
            "Content-Length: " + std::to_string(bytes.size()) + "\r\n\r\n" + bytes
        );
        return {socket.read_message()};
    }

    std::jthread later_;
    std::unique_ptr<Database> database_{Database::open("sqlite::memory:")};
    Service service_{*database_};
    HttpServer server_{service_, {.listen = "127.0.0.1:0", .authenticate = [](const RequestHead&) {
                                      return std::optional<Principal>{};
                                  }}};
};

TEST_F(WebhookRoute, the_body_comes_byte_for_byte_whatever_it_is_called) {
    std::string every_byte;
    for (int c = 0; c < 256; ++c) every_byte.push_back(static_cast<char>(c));
    for (const auto* type :
         {"",
          "Content-Type: application/json\r\n",
          "Content-Type: application/x-www-form-urlencoded\r\n",
          "Content-Type: nonsense\r\nContent-Type: twice\r\n"})
        EXPECT_EQ(post("/echo", every_byte, type).body(), every_byte) << type;
    EXPECT_EQ(post("/echo", "{\"a\" :1}\r\n ").body(), "{\"a\" :1}\r\n ");
}

TEST_F(WebhookRoute, an_answer_may_come_later_from_another_thread) {
    const auto answer = post("/small/stripe", "12345678");

    EXPECT_EQ(answer.status(), 202);
    EXPECT_EQ(answer.body(), "/small/stripe");
}

TEST_F(WebhookRoute, a_longer_body_a_bug_and_another_method_are_refused) {
    EXPECT_EQ(post("/small/stripe", "123456789").status(), 413);
    EXPECT_EQ(post("/echo", std::string(256 * 1024 + 1, 'a')).status(), 413);
    EXPECT_EQ(post("/small/stripe", "throw").status(), 500);
    auto socket = RawSocket::to(server_.port());
    socket.send("GET /echo HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(Answer{socket.read_message()}.status(), 401);
}

}  // namespace
}  // namespace pawl
