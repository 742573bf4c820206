#include <pawl/testing.hpp>
#include <pawl/webhook_sender.hpp>

#include "src/base/clock.hpp"
#include "src/http/testing/raw_server.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace pawl {
namespace {

using http::testing::RawServer;
using http::testing::RawSocket;

const std::string new_secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const std::string old_secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";
const std::string job_id = "0123456789abcdef01234567";
const std::string body = R"({"type":"ride.booked","data":{"id":1}})";

// A receiver that answers each delivery with one status.
class WebhookSenderTest : public ::testing::Test {
protected:
    explicit WebhookSenderTest() = default;
    JobResult send(
        int status, std::vector<std::string> secrets = {new_secret}, bool private_addresses = true
    ) {
        RawServer receiver{[status](RawServer& self, RawSocket& socket) {
            self.saw(socket.read_message());
            socket.send(
                "HTTP/1.1 " + std::to_string(status) +
                " X\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"
            );
        }};
        WebhookSender sender{
            {.find = [&](const std::string& name) -> std::optional<WebhookEndpoint> {
                 if (name != "shop") return std::nullopt;
                 return WebhookEndpoint{receiver.url() + "/hooks", secrets};
             },
             .private_addresses = private_addresses}};
        const auto result = work(sender, "shop");
        receiver.wait_for_scripts();
        seen = receiver.seen();
        return result;
    }
    static JobResult work(WebhookSender& sender, const std::string& endpoint) {
        testing::FakeCall call;
        return sender.work(call.keyed(), {.args = {endpoint, body}, .id = job_id});
    }
    // The receiver's view of the only delivery.
    RequestHead head() const {
        RequestHead head;
        const auto& text = seen.at(0);
        for (std::size_t from = text.find("\r\n") + 2; text.compare(from, 2, "\r\n") != 0;) {
            const auto end = text.find("\r\n", from);
            const auto colon = text.find(": ", from);
            head.headers.push_back(
                {text.substr(from, colon - from), text.substr(colon + 2, end - colon - 2)}
            );
            from = end + 2;
        }
        return head;
    }
    static std::string why(const JobResult& result) {
        const auto* discarded = std::get_if<JobDiscarded>(&result);
        return discarded != nullptr ? discarded->why : "";
    }

    std::vector<std::string> seen;
};

TEST_F(WebhookSenderTest, a_delivery_is_signed_with_every_secret_and_has_the_jobs_id_and_key) {
    EXPECT_TRUE(std::holds_alternative<JobDone>(send(204, {new_secret, old_secret})));

    ASSERT_EQ(seen.size(), 1U);
    EXPECT_TRUE(seen[0].starts_with("POST /hooks HTTP/1.1\r\n"));
    EXPECT_TRUE(seen[0].ends_with("\r\n\r\n" + body));
    EXPECT_EQ(head().header("webhook-id"), job_id);
    EXPECT_EQ(head().header("Idempotency-Key"), std::string(64, 'a'));
    EXPECT_EQ(head().header("Content-Type"), "application/json");
    const auto now = base::system_clock().now();
    for (const auto& secret : {new_secret, old_secret})
        EXPECT_EQ(check_standard_webhook(head(), body, std::vector{secret}, now), WebhookCheck::ok);
}

TEST_F(WebhookSenderTest, a_410_is_a_dead_letter_and_other_refusals_are_tried_again) {
    EXPECT_EQ(why(send(410)), "the receiver wants no more webhooks: it answered 410");
    for (const int status : {302, 400, 401, 404, 429, 500, 503})
        EXPECT_THROW((void)send(status), std::runtime_error) << status;
    EXPECT_EQ(seen.size(), 1U);  // A redirect is not followed, and one try sends once.
}

TEST_F(WebhookSenderTest, an_endpoint_that_can_not_be_used_is_a_dead_letter) {
    EXPECT_EQ(why(send(204, {})), "the endpoint shop has no secret");
    EXPECT_EQ(why(send(204, {new_secret}, false)), "the URL of the endpoint shop is not https://");
    EXPECT_TRUE(seen.empty());
    WebhookSender sender{{.find = [](const std::string&) { return std::nullopt; }}};
    EXPECT_EQ(why(work(sender, "shop")), "there is no endpoint shop");
}

TEST_F(WebhookSenderTest, nothing_is_sent_to_a_private_address) {
    RawServer receiver{[](RawServer& self, RawSocket&) { self.saw("a connection"); }};
    for (const std::string host : {"127.0.0.1", "localhost", "[::1]", "0.0.0.0", "0x7f.1"}) {
        const auto url = "https://" + host + ":" + std::to_string(receiver.port());
        WebhookSender sender{{.find = [&](const std::string&) {
            return WebhookEndpoint{url, {new_secret}};
        }}};
        try {
            (void)work(sender, "shop");
            ADD_FAILURE() << url;
        } catch (const std::runtime_error& failed) {
            EXPECT_STREQ(failed.what(), "no answer: not sent: the address is not public") << url;
        }
    }
    EXPECT_EQ(receiver.connections(), 0);
}

TEST_F(WebhookSenderTest, options_without_a_lookup_are_refused) {
    EXPECT_THROW(WebhookSender{WebhookSenderOptions{}}, std::invalid_argument);
}

}  // namespace
}  // namespace pawl
