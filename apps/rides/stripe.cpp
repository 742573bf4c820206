#include "apps/rides/stripe.hpp"

#include "src/core/url.hpp"
#include "src/json/hash.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>

#include <optional>
#include <stdexcept>
#include <utility>

namespace rides {

namespace {

using pawl::InDoubt;
using pawl::Retry;
using pawl::Stuck;
using pawl::http::Arrived;
using pawl::http::Lost;
using pawl::http::NotSent;
using pawl::http::Sent;

void add(std::string& form, std::string_view name, std::string_view value) {
    if (!form.empty()) form += '&';
    form += boost::urls::encode(name, boost::urls::unreserved_chars);
    form += '=';
    form += boost::urls::encode(value, boost::urls::unreserved_chars);
}

std::string text_at(const boost::json::value& value, std::string_view name) {
    const auto* object = value.if_object();
    const auto* member = object != nullptr ? object->if_contains(name) : nullptr;
    const auto* text = member != nullptr ? member->if_string() : nullptr;
    return text != nullptr ? std::string{*text} : std::string{};
}

struct StripeError {
    std::string type;
    std::string code;
    std::string message;
};

struct Answer {
    std::string id;  // Set on success.
    StripeError error;
};

Answer read(const Arrived& arrived) {
    boost::system::error_code error;
    const auto body = boost::json::parse(arrived.body, error);
    if (error || !body.is_object()) return {};
    Answer answer{text_at(body, "id"), {}};
    if (const auto* e = body.as_object().if_contains("error"))
        answer.error = {text_at(*e, "type"), text_at(*e, "code"), text_at(*e, "message")};
    return answer;
}

// Classifies every answer but a success and a refusal of the order itself. Stripe stores the first
// answer under a key, also a 500: a repeat of that never changes (F8). A load balancer or proxy
// between us and Stripe may answer, too, which proves nothing: only an error in Stripe's own form
// comes from Stripe.
template <class Outcome>
Outcome trouble(const Arrived& arrived, const Answer& answer) {
    const bool replayed = arrived.header("Idempotent-Replayed").value_or("") == "true";
    const int status = arrived.status;
    if (status >= 500 && replayed)
        return Stuck{"the provider repeats a stored error, status " + std::to_string(status)};
    const auto said = "the provider said " + std::to_string(status) + " " + answer.error.message;
    if (status == 429 || status == 401 || status == 403) return Retry{said};
    const bool passing = status == 408 || status == 409 || status == 425;
    if (status < 400 || status >= 500 || passing || answer.error.type.empty()) return InDoubt{said};
    return Stuck{
        "the provider refused the request, status " + std::to_string(status) + ": " +
        answer.error.type + " " + answer.error.code + " " + answer.error.message};
}

// `refuses`: whether an answer is the provider's final refusal of this order.
template <class Done, class Refusal, class Refuses>
pawl::Outcome<Done, Refusal> outcome_of(const Sent& sent, Refuses refuses) {
    if (const auto* kept_back = std::get_if<NotSent>(&sent)) return Retry{kept_back->why};
    if (const auto* lost = std::get_if<Lost>(&sent)) return InDoubt{lost->why};
    const auto& arrived = std::get<Arrived>(sent);
    auto answer = read(arrived);
    if (arrived.status == 200) {
        if (answer.id.empty()) return InDoubt{"an answer without an id"};
        return Done{std::move(answer.id)};
    }
    if (refuses(arrived.status, answer.error))
        return Refusal{std::move(answer.error.code), std::move(answer.error.message)};
    return trouble<pawl::Outcome<Done, Refusal>>(arrived, answer);
}

std::string charge_form(const ChargeOrder& order) {
    std::string form;
    add(form, "amount", std::to_string(order.amount));
    add(form, "currency", order.currency);
    add(form, "customer", order.customer);
    add(form, "description", order.description);
    return form;
}

pawl::Outcome<Charge, Declined> charge_outcome(const Sent& sent) {
    return outcome_of<Charge, Declined>(sent, [](int status, const StripeError& error) {
        return status == 402 && !error.type.empty();
    });
}

// 48 bits of a hash of the API key: they distinguish two keys and reveal neither.
std::string target_of(const Stripe::Where& where) {
    auto url = pawl::core::without_password(where.url);
    while (url.ends_with('/')) url.pop_back();
    const auto account =
        where.account.empty()
            ? "key " + pawl::json::hex(pawl::json::sha256("stripe api key " + where.api_key))
                           .substr(0, 12)
            : where.account;
    return "stripe " + url + " account " + account;
}

}  // namespace

Stripe::Stripe(pawl::http::Transfers& transfers, Where where)
    : transfers_{transfers}, where_{std::move(where)}, target_{target_of(where_)} {}

pawl::http::Outgoing Stripe::request_to(const std::string& path, std::string form) const {
    pawl::http::Outgoing request;
    request.method = "POST";
    request.url = where_.url + path;
    request.headers = {
        {"Authorization", "Bearer " + where_.api_key},
        {"Content-Type", "application/x-www-form-urlencoded"}};
    request.body = std::move(form);
    request.timeout = timeout;
    return request;
}

Sent Stripe::post(const pawl::KeyedCall& call, const std::string& path, std::string form) {
    call.assert_open();
    auto request = request_to(path, std::move(form));
    request.headers.push_back({"Idempotency-Key", call.key().text});
    return transfers_.perform(std::move(request), call.stop());
}

pawl::Outcome<Charge, Declined> Stripe::charge(pawl::KeyedCall& call, const ChargeOrder& order) {
    return charge_outcome(post(call, "/v1/charges", charge_form(order)));
}

pawl::Outcome<Charge, Declined> Stripe::charge_once(pawl::Call& call, const ChargeOrder& order) {
    call.assert_open();
    auto request = request_to("/v1/charges", charge_form(order));
    request.never_resend = true;
    return charge_outcome(transfers_.perform(std::move(request), call.stop()));
}

namespace {

BookedCharge charge_of(const boost::json::value& value) {
    const auto number_at = [&](const char* name) {
        const auto* member = value.as_object().if_contains(name);
        return member != nullptr && member->is_int64() ? member->get_int64() : 0;
    };
    return {
        text_at(value, "id"),
        number_at("amount"),
        text_at(value, "currency"),
        text_at(value, "customer"),
        text_at(value, "description"),
        number_at("created")};
}

}  // namespace

// A read changes nothing: the operator can run the command again.
Arrived Stripe::get(const std::string& path) {
    auto request = request_to(path, {});
    request.method = "GET";
    request.headers.pop_back();  // Content-Type.
    const auto sent = transfers_.perform(std::move(request), {});
    if (const auto* not_sent = std::get_if<NotSent>(&sent))
        throw std::runtime_error{"the provider can't be reached: " + not_sent->why};
    if (const auto* lost = std::get_if<Lost>(&sent))
        throw std::runtime_error{"the provider did not answer: " + lost->why};
    return std::get<Arrived>(sent);
}

ChargePage Stripe::list_charges(const ChargeQuery& query) {
    auto path = "/v1/charges?limit=100&created%5Bgte%5D=" + std::to_string(query.since) +
                "&created%5Blt%5D=" + std::to_string(query.until);
    if (!query.after.empty())
        path +=
            "&starting_after=" + boost::urls::encode(query.after, boost::urls::unreserved_chars);
    const auto arrived = get(path);
    boost::system::error_code error;
    const auto body = boost::json::parse(arrived.body, error);
    const auto* data = !error && body.is_object() ? body.as_object().if_contains("data") : nullptr;
    if (arrived.status != 200 || data == nullptr || !data->is_array())
        throw std::runtime_error{
            "the provider did not list its charges: status " + std::to_string(arrived.status) +
            " " + read(arrived).error.message};
    ChargePage page;
    for (const auto& one : data->get_array())
        if (one.is_object()) page.charges.push_back(charge_of(one));
    const auto* more = body.as_object().if_contains("has_more");
    page.has_more = more != nullptr && more->is_bool() && more->get_bool();
    return page;
}

std::optional<BookedCharge> Stripe::find_charge(const std::string& id) {
    const auto arrived =
        get("/v1/charges/" + boost::urls::encode(id, boost::urls::unreserved_chars));
    if (arrived.status == 404) return std::nullopt;
    boost::system::error_code error;
    const auto body = boost::json::parse(arrived.body, error);
    if (arrived.status != 200 || error || !body.is_object())
        throw std::runtime_error{
            "the provider did not show the charge " + id + ": status " +
            std::to_string(arrived.status)};
    return charge_of(body);
}

pawl::Outcome<Refund, RefundRefused> Stripe::refund(
    pawl::KeyedCall& call, const RefundOrder& order
) {
    std::string form;
    add(form, "charge", order.charge);
    add(form, "amount", std::to_string(order.amount));
    return outcome_of<Refund, RefundRefused>(
        post(call, "/v1/refunds", std::move(form)),
        [](int status, const StripeError& error) {
            return status == 400 && error.code == "charge_already_refunded";
        }
    );
}

}  // namespace rides
