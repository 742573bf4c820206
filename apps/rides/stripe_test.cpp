#include "apps/rides/stripe.hpp"

#include <pawl/testing.hpp>

#include "src/http/listener.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rides {
namespace {

using pawl::testing::FakeCall, pawl::testing::result;

template <class Done>
std::string verdict(const pawl::Outcome<Done, Declined>& outcome) {
    if (result<Done>(outcome) != nullptr) return "done";
    if (result<Declined>(outcome) != nullptr) return "declined";
    if (result<pawl::Retry>(outcome) != nullptr) return "retry";
    if (result<pawl::InDoubt>(outcome) != nullptr) return "in doubt";
    return "stuck";
}

// "Certainly not done" and "will never be done" need proofs; all else is in doubt.
TEST(StripeVerdict, follows_the_table) {
    struct Case {
        int status;
        std::string body;
        bool replayed;
        std::string verdict;
    };
    const std::string error =
        R"({"error":{"type":"invalid_request_error","code":"x","message":"No."}})";
    const std::string card =
        R"({"error":{"type":"card_error","code":"card_declined","message":"No."}})";
    const std::string key = R"({"error":{"type":"idempotency_error","message":"No."}})";
    const std::string api = R"({"error":{"type":"api_error","message":"No."}})";
    const std::string page = "<html>from a load balancer</html>";
    const std::vector<Case> cases{
        {200, R"({"id":"ch_1"})", false, "done"},
        {200, R"({"id":"ch_1"})", true, "done"},
        {200, page, false, "in doubt"},
        {202, R"({"id":"ch_1"})", false, "in doubt"},
        {302, page, false, "in doubt"},
        {400, error, false, "stuck"},
        {400, page, false, "in doubt"},
        {400, key, false, "stuck"},
        {401, error, false, "retry"},
        {401, page, false, "in doubt"},
        {402, card, false, "declined"},
        {402, card, true, "declined"},
        {402, error, false, "stuck"},
        {402, page, false, "in doubt"},
        {403, error, false, "retry"},
        {403, page, false, "in doubt"},
        {404, error, false, "stuck"},
        {404, page, false, "in doubt"},
        {408, page, false, "in doubt"},
        {408, error, false, "in doubt"},
        {409, key, false, "in doubt"},
        {425, error, false, "in doubt"},
        {429, error, false, "retry"},
        {429, page, false, "in doubt"},
        {500, api, false, "in doubt"},
        {500, api, true, "stuck"},
        {502, page, false, "in doubt"},
        {503, page, false, "in doubt"},
    };
    pawl::http::Reply next;
    pawl::http::Listener listener{
        {.listen = "127.0.0.1:0"},
        {.on_head = pawl::http::Listener::accept_all(
             [&](const pawl::http::Request&, pawl::http::Responder respond) { respond(next); }
         ),
         .on_error = [](int status,
                        std::string_view,
                        const pawl::RequestHead&) { return pawl::http::Reply{.status = status}; },
         .date = [] { return std::string{"now"}; }}};
    listener.start();
    Stripe stripe{{"http://127.0.0.1:" + std::to_string(listener.port()), "sk_test"}, 16};

    for (const auto& c : cases) {
        next = {.status = c.status, .body = c.body};
        if (c.replayed) next.headers.push_back({"Idempotent-Replayed", "true"});
        FakeCall call{"key"};
        const auto shown = std::to_string(c.status) + " " + c.body;
        const ChargeOrder order{2000, "usd", "cus_jane", "A ride"};
        EXPECT_EQ(verdict(stripe.charge(call.keyed(), order)), c.verdict) << shown;
        EXPECT_EQ(verdict(stripe.charge_once(call.plain(), order)), c.verdict) << shown;
        EXPECT_EQ(verdict(stripe.make_customer(call.plain(), {"j@x.y"})), c.verdict) << shown;
    }
}

// Answers each request with an error or with `next`, and keeps the last one.
class Refusing {
public:
    Refusing() { listener_.start(); }
    pawl::http::Reply next{
        .status = 400,
        .headers = {{"Request-Id", "req_7"}},
        .body = R"({"error":{"type":"invalid_request_error","message":"No.",)"
                R"("code":"resource_missing"}})"};
    std::string url() const { return "http://127.0.0.1:" + std::to_string(listener_.port()); }
    std::string header(const char* name) const {
        return std::string{last_.head.header(name).value_or("")};
    }
    const std::string& body() const { return last_.body; }

private:
    pawl::http::Request last_;
    pawl::http::Listener listener_{
        {.listen = "127.0.0.1:0"},
        {.on_head = pawl::http::Listener::accept_all(
             [this](const pawl::http::Request& request, pawl::http::Responder respond) {
                 last_ = request;
                 respond(next);
             }
         ),
         .on_error = [](int status,
                        std::string_view,
                        const pawl::RequestHead&) { return pawl::http::Reply{.status = status}; },
         .date = [] { return std::string{"now"}; }}};
};

// A provider once answered with an amount of 1, and the ride was "Paid." (issue 39, part 3).
TEST(StripeVerdict, a_success_that_is_not_what_was_asked_waits_for_a_person) {
    Refusing stripes;
    Stripe stripe{{stripes.url(), "sk_test"}, 16};
    const ChargeOrder order{2000, "usd", "cus_jane", "A ride"};
    const auto charged = [&](const std::string& members) {
        stripes.next = {.status = 200, .body = R"({"id":"ch_1")" + members + "}"};
        FakeCall call{"key"};
        return verdict(stripe.charge(call.keyed(), order));
    };

    EXPECT_EQ(
        charged(R"(,"object":"charge","amount":2000,"currency":"usd","paid":true,)"
                R"("status":"succeeded","captured":true,"refunded":false)"),
        "done"
    );
    for (const auto* odd :
         {R"(,"amount":1)",
          R"(,"amount":-2000)",
          R"(,"amount":2000.5)",
          R"(,"amount":"2000")",
          R"(,"currency":"jpy")",
          R"(,"status":"failed")",
          R"(,"status":"pending")",
          R"(,"paid":false)",
          R"(,"refunded":true)",
          R"(,"object":"refund")",
          R"(,"amount":null)"})
        EXPECT_EQ(charged(odd), "stuck") << odd;
}

TEST(StripeVerdict, a_hold_a_capture_or_a_refund_that_is_not_what_was_asked_waits_too) {
    Refusing stripes;
    Stripe stripe{{stripes.url(), "sk_test"}, 16};
    FakeCall call{"key"};
    const auto is_stuck = [](const auto& outcome) {
        return result<pawl::Stuck>(outcome) != nullptr;
    };

    stripes.next = {.status = 200, .body = R"({"id":"ch_1","captured":true})"};
    EXPECT_TRUE(is_stuck(stripe.authorise(call.keyed(), {2000, "usd", "cus_jane", "A trip"})));
    stripes.next = {.status = 200, .body = R"({"id":"ch_1","amount_captured":1})"};
    EXPECT_TRUE(is_stuck(stripe.capture(call.keyed(), {.charge = "ch_1", .amount = 2000})));
    stripes.next = {.status = 200, .body = R"({"id":"ch_2"})"};
    EXPECT_TRUE(is_stuck(stripe.capture(call.keyed(), {.charge = "ch_1", .amount = 2000})));
    stripes.next = {.status = 200, .body = R"({"id":"re_1","status":"failed"})"};
    EXPECT_TRUE(is_stuck(stripe.refund(call.keyed(), {.charge = "ch_1", .amount = 2000})));
    EXPECT_TRUE(is_stuck(stripe.pay_back(call.plain(), "ch_1")));
    stripes.next = {.status = 200, .body = R"({"id":"re_1","amount":1})"};
    EXPECT_TRUE(is_stuck(stripe.refund(call.keyed(), {.charge = "ch_1", .amount = 2000})));
}

TEST(StripeRequest, has_the_pinned_version_and_an_error_says_what_stripe_said) {
    Refusing server;
    FakeCall call{"key"};

    const auto end = Stripe{{server.url(), "sk_test"}, 16}.make_customer(call.plain(), {"j@x.y"});

    EXPECT_EQ(server.header("Stripe-Version"), Stripe::tested_version);
    EXPECT_EQ(server.header("Authorization"), "Bearer sk_test");
    ASSERT_NE(result<pawl::Stuck>(end), nullptr);
    EXPECT_EQ(
        result<pawl::Stuck>(end)->why,
        "the provider refused the request: 400 invalid_request_error resource_missing "
        "(request req_7): No."
    );
    Stripe::Where other{server.url(), "sk_test"};
    other.version = "2020-08-27";
    (void)Stripe{other, 16}.make_customer(call.plain(), {"j@x.y"});
    EXPECT_EQ(server.header("Stripe-Version"), "2020-08-27");
}

TEST(StripeRequest, the_key_of_a_customer_depends_on_its_order_and_not_on_the_request) {
    Refusing server;
    Stripe stripe{{server.url(), "sk_test"}, 16};
    const auto key_of = [&](const CustomerOrder& order, const char* call_key) {
        FakeCall call{call_key};
        (void)stripe.make_customer(call.plain(), order);
        return server.header("Idempotency-Key");
    };
    const auto first = key_of({"jane@example.com", "tok_visa"}, "a");

    EXPECT_EQ(server.body(), "email=jane%40example.com&source=tok_visa");
    EXPECT_EQ(first, key_of({"jane@example.com", "tok_visa"}, "b"));
    EXPECT_NE(first, key_of({"joe@example.com", "tok_visa"}, "a"));
    EXPECT_NE(first, key_of({"jane@example.com", "tok_other"}, "a"));
    EXPECT_NE(first, key_of({"jane@example.com", std::nullopt}, "a"));
    EXPECT_EQ(server.body(), "email=jane%40example.com");
}

// Issue 16, number 20.
TEST(StripeTarget, names_url_and_account_but_not_the_api_key) {
    const auto target = [&](Stripe::Where where) { return Stripe{std::move(where), 16}.target(); };
    const auto first = target({"https://api.stripe.com", "sk_live_secret"});

    EXPECT_EQ(first, target({"https://api.stripe.com/", "sk_live_secret"}));
    EXPECT_NE(first, target({"https://api.stripe.com", "sk_live_other"}));
    EXPECT_NE(first, target({"https://proxy.example", "sk_live_secret"}));
    EXPECT_EQ(first.find("secret"), std::string::npos);
    EXPECT_EQ(
        target({"https://api.stripe.com", "sk_live_secret", "acct_1"}),
        "stripe https://api.stripe.com account acct_1"
    );
    EXPECT_EQ(target({"https://me:pw@api.stripe.com", "k"}).find("pw"), std::string::npos);
}

}  // namespace
}  // namespace rides
