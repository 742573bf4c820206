#pragma once

#include <pawl/call.hpp>
#include <pawl/client.hpp>
#include <pawl/job.hpp>
#include <pawl/webhook.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Webhooks out: a job for each delivery. docs/howto/webhooks.md
namespace pawl {

// A webhook to send, staged in the transaction that it reports: tx.stage(SendWebhook{...}).
struct SendWebhook {
    static constexpr std::string_view kind = "send_webhook";
    // Of its own, so that receivers that hang hold no other jobs.
    static constexpr JobSettings settings{.queue = "webhooks"};
    std::string endpoint{};  // Its name, as WebhookSenderOptions::find knows it. No secret, no URL.
    std::string body{};      // JSON, sent as it is.
    std::string partition() const { return endpoint; }
};

struct WebhookEndpoint {
    std::string url{};
    // whsec_...; newest first. While one is replaced, both sign.
    std::vector<std::string> secrets{};
};

struct WebhookSenderOptions {
    // The endpoint of a name now; nullopt: it was removed, and its jobs become dead letters. Called
    // at each try, concurrently. Required.
    std::function<std::optional<WebhookEndpoint>(const std::string& name)> find{};
    // false: only https:// and public addresses, because a receiver chooses its URL, and could
    // name a server of ours.
    bool private_addresses{false};
    std::chrono::milliseconds timeout{20'000};  // Of one delivery; less than a job's time-out.

    std::optional<std::string> problem() const;  // Names the option, the value and the limit.
};

// Works the jobs. Each delivery is signed by Standard Webhooks; its webhook-id is the job's id, the
// same for all tries and after a merge, and so is its Idempotency-Key. 2xx: done. 410: the receiver
// wants no more, a dead letter. All else fails, and is tried again in the queue's retry layers;
// redirects are not followed.
class WebhookSender {
public:
    // Throws std::invalid_argument if the options have a problem().
    explicit WebhookSender(WebhookSenderOptions options);
    JobResult work(KeyedCall& call, const Job<SendWebhook>& job);

private:
    WebhookSenderOptions options_;
    Client client_;
};

}  // namespace pawl
