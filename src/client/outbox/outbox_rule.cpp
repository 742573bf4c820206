#include "src/client/outbox/outbox_rule.hpp"

#include "src/core/backoff.hpp"

#include <cmath>

namespace pawl::client {

namespace {

// Refusals that may pass: load, failures, an earlier try in progress, credentials that people fix.
bool is_temporary(int status) {
    switch (status) {
        case 401:
        case 403:
        case 407:
        case 408:
        case 409:
        case 421:
        case 425:
        case 429:
            return true;
        default:
            return status >= 500;
    }
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
        std::chrono::milliseconds{
            std::llround(static_cast<double>(whole.count()) * (1.0 - 0.5 * dice))},
        !std::visit([](const auto& result) { return result.in_doubt; }, end)};
}

}  // namespace pawl::client
