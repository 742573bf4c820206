#include <pawl/webhook.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

namespace pawl {
namespace {

using Secrets = std::vector<std::string>;
using namespace std::chrono_literals;

constexpr TimePoint at(std::int64_t seconds) {
    return TimePoint{std::chrono::seconds{seconds}};
}

constexpr std::int64_t sent = 1'492'774'577;
const std::string stripe_body = R"({"id":"evt_1","object":"event"})";
// By Python's hmac.
const std::string by_new = "4c53cebce3a0d7beefae28a4012889b04ff702db3c428f6b139f58303f8d6ac0";
const std::string by_old = "1d95cf3dccbc6b325136d01298e6f894dc35559d1958c99dd5d6998ae6f1d2df";

std::string stripe(
    const std::string& header,
    const Secrets& secrets = {"whsec_new"},
    std::int64_t now = sent,
    const std::string& with = stripe_body
) {
    RequestHead head;
    head.headers = {{"stripe-signature", header}};
    return std::string{text_of(check_stripe_webhook(head, with, secrets, at(now)))};
}

TEST(StripeWebhook, the_v1_signature_of_a_secret_is_accepted) {
    const auto t = "t=" + std::to_string(sent);
    EXPECT_EQ(stripe(t + ",v1=" + by_new), "ok");
    EXPECT_EQ(stripe(t + ",v0=6ffb,v1=" + by_old + ",v1=" + by_new), "ok");
    EXPECT_EQ(stripe("v1=" + by_new + ',' + t), "ok");
    EXPECT_EQ(stripe(t + ",v1=" + by_old, {"whsec_new", "whsec_old"}), "ok");
}

TEST(StripeWebhook, another_secret_time_or_byte_of_the_body_is_refused) {
    const auto t = "t=" + std::to_string(sent);
    const auto signature = ",v1=" + by_new;
    EXPECT_EQ(stripe(t + signature, {"whsec_old"}), "wrong signature");
    EXPECT_EQ(stripe(t + signature, {}), "wrong signature");
    EXPECT_EQ(stripe("t=" + std::to_string(sent + 1) + signature), "wrong signature");
    EXPECT_EQ(stripe(t + signature, {"whsec_new"}, sent, stripe_body + " "), "wrong signature");
    EXPECT_EQ(stripe(t + ",v1=" + by_new.substr(1)), "wrong signature");
    EXPECT_EQ(stripe(t + ",v1="), "wrong signature");
}

// The HMAC under an empty secret is known to everybody.
TEST(StripeWebhook, an_empty_secret_matches_nothing) {
    const auto header = stripe_signature(Secrets{""}, at(sent), stripe_body);

    EXPECT_EQ(stripe(header, {""}), "wrong signature");
}

TEST(StripeWebhook, only_the_tolerance_around_now_is_accepted) {
    const auto header = "t=" + std::to_string(sent) + ",v1=" + by_new;
    EXPECT_EQ(stripe(header, {"whsec_new"}, sent + 300), "ok");
    EXPECT_EQ(stripe(header, {"whsec_new"}, sent + 301), "too old");
    EXPECT_EQ(stripe(header, {"whsec_new"}, sent - 300), "ok");
    EXPECT_EQ(stripe(header, {"whsec_new"}, sent - 301), "in the future");
    // What nobody signed is not a matter of time.
    EXPECT_EQ(stripe(header, {"whsec_old"}, sent + 301), "wrong signature");
}

TEST(StripeWebhook, a_header_of_another_form_is_refused) {
    const auto v1 = ",v1=" + by_new;
    EXPECT_EQ(stripe(""), "malformed");
    EXPECT_EQ(stripe("v1=" + by_new), "malformed");
    EXPECT_EQ(stripe("t=" + v1), "malformed");
    EXPECT_EQ(stripe("t=-1" + v1), "malformed");
    EXPECT_EQ(stripe("t=+1" + v1), "malformed");
    EXPECT_EQ(stripe("t=1492774577.5" + v1), "malformed");
    EXPECT_EQ(stripe("t=9999999999999" + v1), "malformed");
    EXPECT_EQ(stripe("t=1492774577,t=1492774577" + v1), "malformed");
    EXPECT_EQ(stripe("t=1492774577" + std::string(4'096, 'x') + v1), "malformed");
    std::string many = "t=1492774577";
    for (int i = 0; i < 17; ++i) many += v1;
    EXPECT_EQ(stripe(many), "malformed");
    EXPECT_EQ(stripe("t=1492774577,v0=" + by_new), "no signature");
}

TEST(StripeWebhook, a_missing_or_doubled_header_is_no_signature) {
    const Header one{
        "Stripe-Signature", stripe_signature(Secrets{"whsec_new"}, at(sent), stripe_body)};
    RequestHead head;
    EXPECT_EQ(
        check_stripe_webhook(head, stripe_body, Secrets{"whsec_new"}, at(sent)),
        WebhookCheck::no_signature
    );
    head.headers = {one, one};
    EXPECT_EQ(
        check_stripe_webhook(head, stripe_body, Secrets{"whsec_new"}, at(sent)),
        WebhookCheck::no_signature
    );
}

TEST(StripeWebhook, a_sender_signs_with_every_secret) {
    EXPECT_EQ(
        stripe_signature(Secrets{"whsec_new", "whsec_old"}, at(sent) + 999ms, stripe_body),
        "t=1492774577,v1=" + by_new + ",v1=" + by_old
    );
}

// The example of the specification's own libraries.
constexpr std::int64_t example_time = 1'614'265'330;
const std::string example_id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const std::string example_body = R"({"test": 2432232314})";
const std::string example_secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const std::string example_signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
const std::string other_secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";

struct Delivery {
    std::string id{example_id};
    std::string time{std::to_string(example_time)};
    std::string signature{example_signature};
    std::string body{example_body};
};

std::string standard(
    const Delivery& sent_one,
    const Secrets& secrets = {example_secret},
    std::int64_t now = example_time
) {
    RequestHead head;
    head.headers = {
        {"Webhook-Id", sent_one.id},
        {"Webhook-Timestamp", sent_one.time},
        {"Webhook-Signature", sent_one.signature}};
    return std::string{text_of(check_standard_webhook(head, sent_one.body, secrets, at(now)))};
}

TEST(StandardWebhook, the_published_example_is_accepted) {
    EXPECT_EQ(standard({}), "ok");
    EXPECT_EQ(standard({.signature = "v1,AAAA v1a,BBBB v2,C " + example_signature}), "ok");
    EXPECT_EQ(standard({}, {other_secret, example_secret}), "ok");
}

TEST(StandardWebhook, any_other_part_is_refused) {
    EXPECT_EQ(standard({.id = "msg_2"}), "wrong signature");
    EXPECT_EQ(standard({.body = example_body + "\n"}), "wrong signature");
    EXPECT_EQ(standard({.time = "1614265331"}), "wrong signature");
    EXPECT_EQ(standard({}, {other_secret}), "wrong signature");
    EXPECT_EQ(standard({}, {"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}), "wrong signature");
    EXPECT_EQ(standard({}, {"whsec_c2hvcnQ="}), "wrong signature");
    EXPECT_EQ(standard({.signature = "v2,AAAA"}), "no signature");
    EXPECT_EQ(standard({.time = "tomorrow"}), "malformed");
    EXPECT_EQ(standard({.id = "a.b"}), "malformed");
    EXPECT_EQ(standard({.id = ""}), "malformed");
    EXPECT_EQ(standard({.id = std::string(5'000, 'a')}), "malformed");
    EXPECT_EQ(standard({}, {example_secret}, example_time + 301), "too old");
    EXPECT_EQ(standard({}, {example_secret}, example_time - 301), "in the future");
}

TEST(StandardWebhook, what_we_sign_is_accepted_by_the_holder_of_either_secret) {
    RequestHead head;
    head.headers = standard_webhook_headers(
        example_id, Secrets{other_secret, example_secret}, at(example_time) + 1ms, example_body
    );
    EXPECT_TRUE(head.header("webhook-signature")->ends_with(' ' + example_signature));
    for (const auto& secret : {other_secret, example_secret})
        EXPECT_EQ(
            check_standard_webhook(head, example_body, Secrets{secret}, at(example_time)),
            WebhookCheck::ok
        );
}

TEST(StandardWebhook, a_secret_of_another_form_can_not_sign) {
    EXPECT_FALSE(webhook_secret_problem(example_secret));
    for (const auto* wrong : {"", "whsec_", "whsec_c2hvcnQ=", "whsec_not base64", "secret"}) {
        EXPECT_TRUE(webhook_secret_problem(wrong)) << wrong;
        EXPECT_THROW(
            (void)standard_webhook_headers("id", Secrets{wrong}, at(example_time), ""),
            std::invalid_argument
        );
    }
}

}  // namespace
}  // namespace pawl
