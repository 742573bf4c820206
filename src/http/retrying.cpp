#include "src/http/retrying.hpp"

#include "src/http/http_date.hpp"
#include "src/json/document.hpp"

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

namespace pawl::http {

namespace {

using std::chrono::milliseconds;

// Seconds or a date (RFC 9110, 10.2.3); nothing for what is neither.
std::optional<milliseconds> retry_after(const Arrived& answer, TimePoint now) {
    const auto text = answer.header("Retry-After");
    if (!text || text->empty()) return std::nullopt;
    std::int64_t seconds = 0;
    const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), seconds);
    if (end == text->data() + text->size()) {
        constexpr std::int64_t week = 7L * 24 * 3600;  // More is the same: the rule caps it.
        if (bad == std::errc::result_out_of_range) return std::chrono::seconds{week};
        if (seconds >= 0) return std::chrono::seconds{std::min(seconds, week)};
        return std::nullopt;
    }
    if (const auto at = parse_http_date(*text)) return std::max(*at - now, milliseconds{0});
    return std::nullopt;
}

// Whether a repeat can help, in the server's own words: Stripe's header, or `retry` of our problems
// (docs/http.md).
std::optional<bool> told(const Arrived& answer) {
    if (const auto word = answer.header("Stripe-Should-Retry")) {
        if (*word == "true") return true;
        if (*word == "false") return false;
    }
    if (!answer.header("Content-Type").value_or("").starts_with("application/problem+json"))
        return std::nullopt;
    const auto parsed = json::parse(answer.body);
    const auto* problem = std::get_if<0>(&parsed);
    if (problem == nullptr || !problem->is_object()) return std::nullopt;
    const auto* retry = problem->get_object().if_contains("retry");
    if (retry == nullptr || !retry->is_bool()) return std::nullopt;
    return retry->get_bool();
}

core::TryEnd end_of(const Sent& sent, TimePoint now) {
    using Kind = core::TryEnd::Kind;
    if (std::holds_alternative<NotSent>(sent)) return {.kind = Kind::not_sent};
    if (std::holds_alternative<Lost>(sent)) return {.kind = Kind::lost};
    const auto& answer = std::get<Arrived>(sent);
    return {
        .kind = Kind::answered,
        .status = answer.status,
        .retry_after = retry_after(answer, now),
        .told = told(answer),
        .replayed = answer.header("Idempotent-Replayed").value_or("") == "true"};
}

std::string why_of(const Sent& sent) {
    if (const auto* not_sent = std::get_if<NotSent>(&sent)) return not_sent->why;
    if (const auto* lost = std::get_if<Lost>(&sent)) return lost->why;
    return "answered with status " + std::to_string(std::get<Arrived>(sent).status);
}

std::string sentence_of(core::GiveUp::Why why) {
    switch (why) {
        case core::GiveUp::Why::tries:
            return "no more tries are allowed";
        case core::GiveUp::Why::deadline:
            return "the deadline came";
        case core::GiveUp::Why::not_repeatable:
            break;
    }
    return "a repeat would not be safe";
}

void wait_in_earnest(milliseconds wait, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock{mutex};
    stopped.wait_for(lock, stop, wait, [&] { return stop.stop_requested(); });
}

}  // namespace

Retrying::Parts Retrying::over(Transfers& transfers, core::Clock& clock, core::Random& random) {
    auto send = [&transfers](Outgoing request, std::stop_token stop) {
        return transfers.perform(std::move(request), std::move(stop));
    };
    return {.send = std::move(send), .clock = clock, .random = random, .wait = &wait_in_earnest};
}

Retrying::Retrying(Parts parts, core::RetryRule rule) : parts_{std::move(parts)}, rule_{rule} {
    if (auto why = rule_.problem()) throw std::invalid_argument{"pawl::core::RetryRule: " + *why};
}

Ended Retrying::perform(const Outgoing& request, Repeat again, const std::stop_token& stop) const {
    const auto began = parts_.clock.steady();
    auto spent = [&] {
        return std::chrono::duration_cast<milliseconds>(parts_.clock.steady() - began);
    };
    core::TryFacts facts{.again = again};
    while (true) {
        if (stop.stop_requested()) return GaveUp{facts.doubt, facts.tries, "it was stopped"};
        const auto left = rule_.deadline - spent();
        if (left.count() <= 0)
            return GaveUp{facts.doubt, facts.tries, "the deadline came"};  // A wait that overslept.

        Outgoing one = request;
        one.timeout = std::min(request.timeout, left);
        one.never_resend = request.never_resend || again == Repeat::never;
        auto sent = parts_.send(std::move(one), stop);

        ++facts.tries;
        facts.spent = spent();
        const auto end = end_of(sent, parts_.clock.now());
        const auto after = core::decide_after_try(rule_, facts, end, parts_.random.dice());
        if (const auto* take = std::get_if<core::TakeAnswer>(&after))
            return Answered{
                std::get<Arrived>(std::move(sent)), facts.tries, take->doubt, end.replayed};
        if (const auto* over = std::get_if<core::GiveUp>(&after))
            return GaveUp{over->doubt, facts.tries, sentence_of(over->why) + ": " + why_of(sent)};
        const auto& more = std::get<core::TryAgain>(after);
        facts.doubt = more.doubt;
        facts.waited = more.wait;
        parts_.wait(more.wait, stop);
    }
}

}  // namespace pawl::http
