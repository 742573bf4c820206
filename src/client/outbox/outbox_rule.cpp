#include "src/client/outbox/outbox_rule.hpp"

#include "src/core/backoff.hpp"

#include <algorithm>
#include <array>

namespace pawl::client {

namespace {

// Refusals that may pass: load, failures, an earlier try in progress, credentials that people fix.
bool is_temporary(int status) {
    constexpr std::array refusals{401, 403, 407, 408, 409, 421, 425, 429};
    return status >= 500 || std::ranges::find(refusals, status) != refusals.end();
}

bool is_final(const ClientResult& end) {
    const auto* answered = std::get_if<Answered>(&end);
    if (answered == nullptr) return false;
    return answered->replayed || (!answered->in_doubt && !is_temporary(answered->status));
}

}  // namespace

bool may_send_again(const OutboxOptions& options, std::chrono::milliseconds age) noexcept {
    return age < options.give_up_after;
}

AfterSending decide_after_sending(
    const OutboxOptions& options,
    const ClientResult& end,
    int attempts,
    std::chrono::milliseconds age,
    double dice
) noexcept {
    if (is_final(end)) return FinishIt{};
    if (age >= options.give_up_after) return FinishIt{.gave_up = true};
    const auto whole =
        core::exponential_backoff(options.wait_first, options.wait_max, attempts - 1);
    return PutOff{
        core::scaled(whole, 1.0 - 0.5 * dice),
        !std::visit([](const auto& result) { return result.in_doubt; }, end)};
}

}  // namespace pawl::client
