#include <pawl/outcome.hpp>
#include <pawl/webhook_sender.hpp>

#include "src/base/clock.hpp"
#include "src/base/options.hpp"

#include <utility>

namespace pawl {

std::optional<std::string> WebhookSenderOptions::problem() const {
    using namespace std::chrono_literals;
    if (!find) return "find is empty: it returns the endpoint of a name";
    if (timeout < 1ms || timeout > 1h)
        return "timeout is " + std::to_string(timeout.count()) + " ms: 1 ms to 1 h";
    return std::nullopt;
}

WebhookSender::WebhookSender(WebhookSenderOptions options)
    : options_{base::checked(std::move(options), "pawl::WebhookSenderOptions")},
      client_{
          {.timeout = options_.timeout,
           .deadline = options_.timeout,
           .answer_max = 64UL * 1024,
           .public_addresses_only = !options_.private_addresses}} {}

JobResult WebhookSender::work(KeyedCall& call, const Job<SendWebhook>& job) {
    const auto endpoint = options_.find(job.args.endpoint);
    if (!endpoint) return discard("there is no endpoint " + job.args.endpoint);
    if (!options_.private_addresses && !endpoint->url.starts_with("https://"))
        return discard("the URL of the endpoint " + job.args.endpoint + " is not https://");
    if (endpoint->secrets.empty())
        return discard("the endpoint " + job.args.endpoint + " has no secret");
    const auto& body = job.args.body;
    const auto now = base::system_clock().now();
    auto end = client_.perform(
        call,
        {.method = "POST",
         .target = endpoint->url,
         .headers = standard_webhook_headers(job.id, endpoint->secrets, now, body),
         .body = body}
    );
    const auto* answered = std::get_if<Answered>(&end);
    if (answered != nullptr && answered->status == 410)
        return discard("the receiver wants no more webhooks: it answered 410");
    return job_result(end);
}

}  // namespace pawl
