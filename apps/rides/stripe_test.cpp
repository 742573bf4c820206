#include "apps/rides/stripe.hpp"

#include <pawl/testing.hpp>

#include "apps/rides/other_providers.hpp"
#include "src/http/listener.hpp"
#include "tests/format_rows.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rides {
namespace {

using pawl::testing::FakeCall, pawl::testing::FormatRow, pawl::testing::result;

constexpr std::string_view to_person = "a person decides";

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

// The answers of charges, with a live key.
constexpr std::array charge_members{
    FormatRow{"id", "1 to 255 visible characters of ASCII", to_person, R"("id":"ch 1")"},
    FormatRow{"object", "charge", to_person, R"("object":"refund")"},
    FormatRow{"amount", "the one that was asked for", to_person, R"("amount":1)"},
    FormatRow{"currency", "the one that was asked for", to_person, R"("currency":"jpy")"},
    FormatRow{"status", "succeeded", to_person, R"("status":"pending")"},
    FormatRow{"paid", "true", to_person, R"("paid":false)"},
    FormatRow{
        "captured",
        "true; false of a hold; either with a test key",
        to_person,
        R"("captured":false)"},
    FormatRow{"refunded", "false", to_person, R"("refunded":true)"},
    FormatRow{"livemode", "that of the API key", to_person, R"("livemode":false)"}};

// A provider once answered with an amount of 1, and the ride was "Paid." (issue 39, part 3).
TEST(StripeVerdict, a_success_that_is_not_what_was_asked_waits_for_a_person) {
    Refusing stripes;
    const ChargeOrder order{2000, "usd", "cus_jane", "A ride"};
    const auto charged = [&](const std::string& members, const char* key = "sk_live_1") {
        const auto id = members.find(R"("id":)") == members.npos ? R"("id":"ch_1",)" : "";
        stripes.next = {.status = 200, .body = std::string{"{"} + id + members + "}"};
        Stripe stripe{{stripes.url(), key}, 16};
        FakeCall call{"key"};
        return verdict(stripe.charge(call.keyed(), order));
    };

    EXPECT_EQ(pawl::testing::missing_rows(charge_members), "");
    EXPECT_EQ(
        charged(R"("object":"charge","amount":2000,"currency":"usd","paid":true,"livemode":true,)"
                R"("status":"succeeded","captured":true,"refunded":false)"),
        "done"
    );
    for (const auto& row : charge_members)
        EXPECT_EQ(charged(std::string{row.value}), "stuck") << row.value;
    for (const auto* odd :
         {R"("amount":-2000)",
          R"("amount":2000.5)",
          R"("amount":"2000")",
          R"("amount":null)",
          R"("status":"failed")",
          R"("id":"ch_1\u0000")"})
        EXPECT_EQ(charged(odd), "stuck") << odd;
    const auto deep = std::string(200, '[') + std::string(200, ']');
    for (const auto& well : {std::string{R"("amount":2.0e3)"}, R"("other":)" + deep})
        EXPECT_EQ(charged(well), "done") << well;
    // stripe-mock says so of each charge. A key of another form may be of live mode.
    EXPECT_EQ(charged(R"("captured":false)", "sk_test_1"), "done");
    EXPECT_EQ(charged(R"("captured":false)", "rk_test_1"), "done");
    EXPECT_EQ(charged(R"("captured":false)", "another"), "stuck");
    EXPECT_EQ(charged(R"("livemode":true)", "sk_test_1"), "stuck");
    EXPECT_EQ(charged(R"("livemode":true)", "another"), "done");
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
    stripes.next = {.status = 200, .body = R"({"id":"re_1","charge":"ch_2"})"};
    EXPECT_TRUE(is_stuck(stripe.refund(call.keyed(), {.charge = "ch_1", .amount = 2000})));
    EXPECT_TRUE(is_stuck(stripe.pay_back(call.plain(), "ch_1")));
    stripes.next = {.status = 200, .body = R"({"id":"re_1","amount":1})"};
    EXPECT_TRUE(is_stuck(stripe.refund(call.keyed(), {.charge = "ch_1", .amount = 2000})));
}

// A payment of another amount was kept as the result (issue 39, part 3).
TEST(OtherProviders, what_an_answer_or_an_inquiry_says_is_compared_with_the_order) {
    Refusing server;
    JsonProvider provider{server.url(), 16};
    const PaymentOrder order{"ride-7", 2000, "usd"};
    const pawl::Provider json{.name = "json", .account = "a"};
    const auto asked = [&](const std::string& payments) -> std::string {
        server.next = {.status = 200, .body = R"({"payments":[)" + payments + "]}"};
        pawl::testing::FakeInquiry call;
        const auto inquiry = provider.inquire(call.call(), order);
        if (std::holds_alternative<pawl::Stuck>(inquiry.value())) return "stuck";
        return std::holds_alternative<Charge>(inquiry.value()) ? "done" : "undecided";
    };
    const auto paid = [&](const std::string& payment) -> std::string {
        server.next = {.status = 201, .body = payment};
        pawl::testing::FakeRoutedCall call{json};
        const auto outcome = provider.pay(call.call(), order);
        if (std::holds_alternative<pawl::Stuck>(outcome.value())) return "stuck";
        return std::holds_alternative<Charge>(outcome.value()) ? "done" : "undecided";
    };

    for (const auto* well :
         {R"({"payment":"p_1","state":"captured"})",
          R"({"payment":"p_1","state":"captured","amount":2000,"currency":"usd",)"
          R"("reference":"ride-7","fee":0.12345678901234567890})"}) {
        EXPECT_EQ(asked(well), "done") << well;
        EXPECT_EQ(paid(well), "done") << well;
    }
    for (const auto* other :
         {R"({"payment":"p_1","state":"captured","amount":1})",
          R"({"payment":"p_1","state":"captured","currency":"jpy"})",
          R"({"payment":"p_1","state":"captured","reference":"ride-8"})",
          R"({"payment":"p_1","state":"refunded"})",
          R"({"payment":"p_1","state":"pending","amount":1})",
          R"({"payment":"p\u0000","state":"captured"})",
          R"({"payment":"","state":"captured"})"}) {
        EXPECT_EQ(asked(other), "stuck") << other;
        EXPECT_EQ(paid(other), "stuck") << other;
    }
    const std::string one = R"({"payment":"p_1","state":"captured"})";
    EXPECT_EQ(asked(one + "," + one), "stuck") << "paid twice";
    EXPECT_EQ(asked(R"({"payment":"p_1","state":"pending"})"), "undecided");
}

TEST(OtherProviders, a_text_that_is_no_id_is_no_payment) {
    Refusing server;
    TextProvider provider{server.url(), 16};
    const pawl::Provider text{.name = "text", .account = "a"};
    for (const auto& [said, is_paid] : std::vector<std::pair<std::string, bool>>{
             {"OK p_1", true}, {"OK ", false}, {"OK p_1 1.00 EUR", false}, {"OK p\n", false}}) {
        server.next = {.status = 200, .body = said};
        pawl::testing::FakeRoutedCall call{text};
        const auto outcome = provider.pay(call.call(), {"ride-7", 2000, "usd"});
        EXPECT_EQ(std::holds_alternative<Charge>(outcome.value()), is_paid) << said;
    }
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
