#include "apps/rides/other_providers.hpp"

#include <pawl/json.hpp>
#include <pawl/outcome.hpp>

#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>

#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace rides {

namespace {

using pawl::Answered;
using pawl::InDoubt;
using pawl::NotFound;
using pawl::Stuck;
using pawl::TryNext;
using pawl::Undecided;
using pawl::Unknown;

constexpr std::string_view captured = "captured";
constexpr std::string_view pending = "pending";

struct Payment {
    std::string payment;
    std::string state;
    std::optional<std::int64_t> amount{};
    std::optional<std::string> currency{};
    std::optional<std::string> reference{};
};
struct Payments {
    std::vector<Payment> payments;
};
struct Refused {
    std::string reason;
    std::string detail;
};

pawl::ClientOptions options_of(std::string url, int connections_max) {
    return {
        .url = std::move(url),
        .timeout = Stripe::timeout,
        .breaker_failures = 0,
        .connections_max = connections_max};
}

std::string encoded(std::string_view text) {
    return boost::urls::encode(text, boost::urls::unreserved_chars);
}

template <class T>
std::optional<T> body_of(const Answered& answered) {
    return pawl::from_json<T>(answered.body, Unknown::ignored);
}

// Why the payment is none that was asked for. A member that is missing counts as right.
std::optional<Stuck> difference(const Payment& said, const PaymentOrder& order) {
    const auto stuck = [&](const std::string& why) {
        return Stuck{
            "the provider's answer is not what was asked: " + why + ", of the payment " +
            said.payment};
    };
    if (!is_provider_id(said.payment)) return Stuck{"the provider's answer has an id that is none"};
    if (said.state != captured && said.state != pending) return stuck("state is " + said.state);
    if (const auto amount = said.amount.value_or(order.amount); amount != order.amount)
        return stuck(
            "amount is " + std::to_string(amount) + ", and not " + std::to_string(order.amount)
        );
    if (said.currency.value_or(order.currency) != order.currency)
        return stuck("currency is " + *said.currency + ", and not " + order.currency);
    if (said.reference.value_or(order.reference) != order.reference)
        return stuck("reference is " + *said.reference);
    return std::nullopt;
}

using Read = std::optional<Paid>;

// nullopt: not in the provider's own form.
Read read_refusal(const Answered& answered) {
    const auto refused = body_of<Refused>(answered);
    if (!refused) return std::nullopt;
    if (refused->reason == "SoftDecline")
        return Paid{TryNext<Declined>{{refused->reason, refused->detail}}};
    if (refused->reason == "HardDecline") return Paid{Declined{refused->reason, refused->detail}};
    if (answered.status == 429) return std::nullopt;
    return Paid{
        Stuck{"the provider refused the request: " + refused->reason + ": " + refused->detail}};
}

}  // namespace

JsonProvider::JsonProvider(std::string url, int connections_max)
    : client_{options_of(std::move(url), connections_max)} {}

Paid JsonProvider::pay(pawl::RoutedCall& call, const PaymentOrder& order) {
    const auto end = client_.perform(
        call, {.method = "POST", .target = "/payments", .body = pawl::to_json(order)}
    );
    return pawl::outcome<Charge, Declined, TryNext<Declined>>(
        end,
        [&](const Answered& answered) -> Read {
            if (answered.status != 201 && answered.status != 202) return read_refusal(answered);
            const auto payment = body_of<Payment>(answered);
            if (!payment) return std::nullopt;
            if (auto other = difference(*payment, order)) return Paid{std::move(*other)};
            if (payment->state == captured) return Paid{Charge{payment->payment}};
            return await_capture(call, payment->payment, order);
        }
    );
}

// A payment that is still pending is in doubt: under its key the provider then says what became of
// it.
Paid JsonProvider::await_capture(
    pawl::RoutedCall& call, const std::string& payment, const PaymentOrder& order
) {
    for (int polls = 0; polls < 5 && !call.stop().stop_requested(); ++polls) {
        const auto end =
            client_.send_once(call, {.target = "/payments/" + encoded(payment) + "?wait_ms=500"});
        const auto* answered = std::get_if<Answered>(&end);
        const auto now = answered != nullptr ? body_of<Payment>(*answered) : std::nullopt;
        if (!now) continue;
        if (auto other = difference(*now, order)) return std::move(*other);
        if (now->payment != payment)
            return Stuck{"the provider shows " + now->payment + " for " + payment};
        if (now->state == captured) return Charge{payment};
    }
    return InDoubt{"the payment " + payment + " is pending"};
}

pawl::Inquiry<Charge, Declined> JsonProvider::inquire(
    pawl::InquiryCall& call, const PaymentOrder& order
) {
    const auto end =
        client_.send_once(call, {.target = "/payments?reference=" + encoded(order.reference)});
    const auto* answered = std::get_if<Answered>(&end);
    if (answered == nullptr) return Undecided{std::get<pawl::GaveUp>(end).why};
    const auto list = answered->status == 200 ? body_of<Payments>(*answered) : std::nullopt;
    if (!list) return Undecided{"answered " + std::to_string(answered->status)};
    if (list->payments.empty()) return NotFound{.final_after = listed_after};
    if (list->payments.size() > 1)
        return Stuck{
            "the provider has " + std::to_string(list->payments.size()) + " payments of " +
            order.reference};
    const auto& payment = list->payments.front();
    if (auto other = difference(payment, order)) return std::move(*other);
    if (payment.state == captured) return Charge{payment.payment};
    return Undecided{"the payment " + payment.payment + " is " + payment.state};
}

TextProvider::TextProvider(std::string url, int connections_max)
    : client_{options_of(std::move(url), connections_max)} {}

Paid TextProvider::pay(pawl::RoutedCall& call, const PaymentOrder& order) {
    const auto end = client_.send_once(
        call,
        {.method = "POST",
         .target = "/pay",
         .body =
             "reference=" + encoded(order.reference) + "&amount=" + std::to_string(order.amount),
         .content_type = "application/x-www-form-urlencoded"}
    );
    return pawl::outcome<Charge, Declined, TryNext<Declined>>(
        end,
        [](const Answered& answered) -> Read {
            const auto& said = answered.body;
            if (answered.status == 200 && said.starts_with("OK ") &&
                is_provider_id(std::string_view{said}.substr(3)))
                return Paid{Charge{said.substr(3)}};
            if (answered.status == 402 && said.starts_with("SOFT "))
                return Paid{TryNext<Declined>{{"soft", said.substr(5)}}};
            if (answered.status == 402 && said.starts_with("HARD "))
                return Paid{Declined{"hard", said.substr(5)}};
            return std::nullopt;
        }
    );
}

}  // namespace rides
