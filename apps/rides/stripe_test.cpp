#include "apps/rides/stripe.hpp"

#include <pawl/testing.hpp>

#include "src/http/listener.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace rides {
namespace {

using pawl::testing::FakeCall, pawl::testing::result;

std::string verdict(const pawl::Outcome<Charge, Declined>& outcome) {
    if (result<Charge>(outcome) != nullptr) return "charge";
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
    const std::string page = "<html>from a load balancer</html>";
    const std::vector<Case> cases{
        {200, R"({"id":"ch_1"})", false, "charge"},
        {200, R"({"id":"ch_1"})", true, "charge"},
        {200, page, false, "in doubt"},
        {202, R"({"id":"ch_1"})", false, "in doubt"},
        {302, page, false, "in doubt"},
        {400, error, false, "stuck"},
        {400, page, false, "in doubt"},
        {401, error, false, "retry"},
        {402, card, false, "declined"},
        {402, page, false, "in doubt"},
        {403, error, false, "retry"},
        {404, error, false, "stuck"},
        {404, page, false, "in doubt"},
        {408, page, false, "in doubt"},
        {408, error, false, "in doubt"},
        {409, error, false, "in doubt"},
        {425, error, false, "in doubt"},
        {429, error, false, "retry"},
        {500, error, false, "in doubt"},
        {500, error, true, "stuck"},
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
                        std::string_view) { return pawl::http::Reply{.status = status}; },
         .date = [] { return std::string{"now"}; }}};
    listener.start();
    Stripe stripe{{"http://127.0.0.1:" + std::to_string(listener.port()), "sk_test"}, 16};

    for (const auto& c : cases) {
        next = {.status = c.status, .body = c.body};
        if (c.replayed) next.headers.push_back({"Idempotent-Replayed", "true"});
        FakeCall call{"key"};
        EXPECT_EQ(
            verdict(stripe.charge(call.keyed(), {2000, "usd", "cus_jane", "A ride"})), c.verdict
        ) << c.status
          << " " << c.body;
    }
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
