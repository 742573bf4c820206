// The signatures of webhooks. The first line of the input is a header, the rest is the body. No
// header is accepted that a secret did not sign, and a header that a secret has signed is accepted
// with its body, and with no other.

#include <pawl/webhook.hpp>

#include "tests/fuzz/fuzz.hpp"

#include <vector>

namespace {

using namespace pawl;

constexpr TimePoint now{std::chrono::seconds{1'614'265'330}};
const std::vector<std::string> secrets{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"};

void check_stripe(std::string_view header, std::string_view body) {
    RequestHead head;
    head.headers = {{"Stripe-Signature", std::string{header}}};
    PAWL_ASSERT(check_stripe_webhook(head, body, secrets, now) != WebhookCheck::ok);
    head.headers.front().value = stripe_signature(secrets, now, body);
    PAWL_ASSERT(check_stripe_webhook(head, body, secrets, now) == WebhookCheck::ok);
    PAWL_ASSERT(
        check_stripe_webhook(head, std::string{body} + 'x', secrets, now) ==
        WebhookCheck::wrong_signature
    );
}

void check_standard(std::string_view header, std::string_view body) {
    RequestHead head;
    head.headers = {
        {"webhook-id", "msg_1"},
        {"webhook-timestamp", "1614265330"},
        {"webhook-signature", std::string{header}}};
    PAWL_ASSERT(check_standard_webhook(head, body, secrets, now) != WebhookCheck::ok);
    head.headers[0].value = head.headers[1].value = std::string{header};
    PAWL_ASSERT(check_standard_webhook(head, body, secrets, now) != WebhookCheck::ok);
    head.headers = standard_webhook_headers("msg_1", secrets, now, body);
    PAWL_ASSERT(check_standard_webhook(head, body, secrets, now) == WebhookCheck::ok);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto [header, body] = fuzz::cut_at(fuzz::text_of(data, size), "\n");
    check_stripe(header, body);
    check_standard(header, body);
    (void)webhook_secret_problem(header);
    return 0;
}
