// Cuts off a request at each of its bytes, and a response at each of its own, in every way there
// is, and checks the verdict of the transfer and what the server received.
#include "src/http/testing/raw_server.hpp"
#include "src/http/transfer.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace pawl::http {
namespace {

using testing::RawServer;
using testing::RawSocket;

OutgoingRequest order(const std::string& url) {
    return {
        .method = "POST",
        .url = url + "/charges",
        .headers = {{"Idempotency-Key", "k"}, {"Content-Type", "application/json"}},
        .body = R"({"amount":2000,"currency":"usd"})",
        .timeout = 10s};
}

std::string verdict_of(const Sent& sent) {
    if (std::holds_alternative<NotSent>(sent)) return "not sent";
    if (std::holds_alternative<Lost>(sent)) return "lost";
    return "arrived";
}

enum class End { close, reset };

void end(RawSocket& socket, End how) {
    how == End::reset ? socket.reset() : socket.close();
}

// Its connections end with it.
Sent sent_to(const std::string& url, std::chrono::milliseconds timeout = 10s) {
    auto request = order(url);
    request.timeout = timeout;
    Transfers transfers;
    return transfers.perform(request);
}

std::size_t size_of_order() {
    RawServer server{[](RawServer& self, RawSocket& socket) {
        self.saw(socket.read_message());
        socket.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }};
    EXPECT_EQ(verdict_of(sent_to(server.url())), "arrived");
    return server.seen().at(0).size();
}

TEST(EveryByte, a_request_that_is_cut_off_anywhere_is_lost) {
    const auto size = size_of_order();
    ASSERT_GT(size, 150U);
    for (const auto how : {End::close, End::reset})
        for (std::size_t n = 1; n <= size; ++n) {
            RawServer server{[&](RawServer& self, RawSocket& socket) {
                self.saw(socket.read_exactly(n));
                end(socket, how);
            }};

            const auto sent = sent_to(server.url());

            server.wait_for_scripts();
            ASSERT_EQ(verdict_of(sent), "lost") << n << " bytes read";
            ASSERT_EQ(server.seen().at(0).size(), n);
        }
}

// No byte was read, and the client can't know that: only what a reset leaves unsent could be proof.
TEST(EveryByte, a_connection_that_ends_before_the_first_byte_is_not_proof) {
    for (int n = 0; n < 50; ++n) {
        RawServer closing{[&](RawServer&, RawSocket& socket) { socket.close(); }};
        RawServer resetting{[&](RawServer&, RawSocket& socket) { socket.reset(); }};

        ASSERT_EQ(verdict_of(sent_to(closing.url())), "lost");
        ASSERT_NE(verdict_of(sent_to(resetting.url())), "arrived");
    }
}

struct Form {
    std::string name;
    std::string answer;
    bool no_lf{false};  // The last one may be missing.
};

const std::vector<Form> forms{
    {"a length",
     "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 24\r\n\r\n"
     R"({"id":"ch_1","paid":true)"},
    {"chunks",
     "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n"
     "6\r\n{\"id\":\r\n7\r\n\"ch_1\"}\r\n0\r\n\r\n",
     true},
    {"chunks with a trailer",
     "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-A: b\r\n\r\n",
     true},
    {"100 before it",
     "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}"},
    {"nothing in it", "HTTP/1.1 204 No Content\r\n\r\n"},
};

TEST(EveryByte, an_answer_that_is_cut_off_anywhere_is_lost_and_a_whole_one_is_not) {
    for (const auto& form : forms)
        for (const auto how : {End::close, End::reset})
            for (std::size_t n = 0; n <= form.answer.size(); ++n) {
                RawServer server{[&](RawServer& self, RawSocket& socket) {
                    self.saw(socket.read_message());
                    socket.send(form.answer.substr(0, n));
                    // A reset would discard bytes that its other end has not read.
                    if (n == form.answer.size()) return (void)socket.read_all();
                    end(socket, how);
                }};

                const auto sent = sent_to(server.url());

                server.wait_for_scripts();
                // libcurl may accept chunks as whole if only the last LF is missing: their content
                // is whole, too.
                if (form.no_lf && n + 1 == form.answer.size()) continue;
                const auto* due = n == form.answer.size() ? "arrived" : "lost";
                ASSERT_EQ(verdict_of(sent), due) << form.name << ", " << n << " bytes";
                ASSERT_EQ(server.seen().size(), 1U) << form.name << ", " << n << " bytes";
            }
}

TEST(EveryByte, an_answer_that_stalls_anywhere_is_lost_after_the_time_out) {
    const auto& answer = forms.at(0).answer;
    for (std::size_t n = 0; n < answer.size(); n += 3) {
        RawServer server{[&](RawServer&, RawSocket& socket) {
            socket.read_message();
            socket.send(answer.substr(0, n));
            socket.read_all();  // Until the client goes away.
        }};

        ASSERT_EQ(verdict_of(sent_to(server.url(), 30ms)), "lost") << n << " bytes";
    }
}

TEST(EveryByte, a_length_that_is_wrong_is_lost_unless_it_is_too_short) {
    struct Case {
        std::string length;
        const char* due;
    };
    // Bytes after a length that is too short do not belong to the response (RFC 9112, 6.3).
    const std::vector<Case> cases{
        {"3", "lost"},
        {"2", "arrived"},
        {"1", "arrived"},
        {"0", "arrived"},
        {"-1", "lost"},
        {"2, 3", "lost"},
        {"2\r\nContent-Length: 3", "lost"},
        {"2\r\nContent-Length: 2", "arrived"},
        {"+2", "lost"},
        {"99999999999999999999", "lost"},
    };
    for (const auto& c : cases) {
        RawServer server{[&](RawServer&, RawSocket& socket) {
            socket.read_message();
            socket.send("HTTP/1.1 201 Created\r\nContent-Length: " + c.length + "\r\n\r\n{}");
            socket.close();
        }};

        EXPECT_EQ(verdict_of(sent_to(server.url())), c.due) << c.length;
    }
}

TEST(EveryByte, a_refused_connection_means_not_sent) {
    EXPECT_EQ(
        verdict_of(sent_to("http://127.0.0.1:" + std::to_string(testing::closed_port()))),
        "not sent"
    );
}

// A connection that ends within the TLS handshake has carried no byte of the request.
TEST(EveryByte, a_handshake_that_is_cut_off_anywhere_is_proof) {
    for (const auto how : {End::close, End::reset})
        for (std::size_t n = 0; n <= 300; n += 3) {
            RawServer server{[&](RawServer&, RawSocket& socket) {
                socket.read_exactly(n);  // A ClientHello is longer.
                end(socket, how);
            }};

            const auto sent = sent_to("https://127.0.0.1:" + std::to_string(server.port()));

            ASSERT_EQ(verdict_of(sent), "not sent") << n << " bytes read";
        }
}

}  // namespace
}  // namespace pawl::http
