#include "apps/rides/stripe.hpp"

#include <pawl/log.hpp>

#include "apps/rides/crypto.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <boost/url/encode.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>
#include <boost/url/url.hpp>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace rides {

namespace {

using pawl::Answered;
using pawl::ClientResult;
using pawl::InDoubt;
using pawl::Retry;
using pawl::Stuck;

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
    std::string decline_code;  // For card_error: what the card's bank said.
    std::string message;
    std::string param;  // The parameter that is wrong.
};

struct Answer {
    std::string id;  // Set on success.
    StripeError error;
    boost::json::object members{};
};

// The values of a success that is what was asked: a member that is missing counts as right, another
// value as none of the results. docs/howto/money.md lists them.
struct WantedMember {
    std::string_view name;
    boost::json::array values;
};
using Wanted = std::vector<WantedMember>;

// A whole number in another form, such as 2.0e3, is that number.
boost::json::value plain(const boost::json::value& value) {
    boost::system::error_code inexact;
    if (!value.is_double()) return value;
    const auto whole = value.to_number<std::int64_t>(inexact);
    return inexact ? value : boost::json::value(whole);
}

// Why the success is something else, for a person: "amount is 1, and not 2000".
std::optional<std::string> difference(const boost::json::object& said, const Wanted& wanted) {
    for (const auto& [name, values] : wanted) {
        const auto* member = said.if_contains(name);
        if (member == nullptr || std::ranges::find(values, plain(*member)) != values.end())
            continue;
        return std::string{name} + " is " + boost::json::serialize(*member).substr(0, 100) +
               ", and not " + boost::json::serialize(values.front());
    }
    return std::nullopt;
}

void add_mode(Wanted& wanted, std::optional<bool> livemode) {
    if (livemode) wanted.push_back({"livemode", {*livemode}});
}

// Without `capture=false` Stripe captures. stripe-mock says of each charge that it is not captured,
// and no money moves with a test key.
Wanted wanted_charge(const ChargeOrder& order, bool captured, std::optional<bool> livemode) {
    const bool any = captured && livemode == false;
    Wanted wanted{
        {"object", {"charge"}},
        {"amount", {order.amount}},
        {"currency", {order.currency}},
        {"status", {"succeeded"}},
        {"paid", {true}},
        {"captured", any ? boost::json::array{true, false} : boost::json::array{captured}},
        {"refunded", {false}}};
    add_mode(wanted, livemode);
    return wanted;
}

// Stripe says "pending" of a refund that a bank carries out later.
Wanted wanted_refund(std::optional<bool> livemode) {
    Wanted wanted{{"object", {"refund"}}, {"status", {"succeeded", "pending"}}};
    add_mode(wanted, livemode);
    return wanted;
}

// Answers have members that nobody reads, of any depth.
boost::json::value parse(const std::string& text, boost::system::error_code& error) {
    boost::json::parse_options options;
    options.max_depth = 1'000;
    return boost::json::parse(text, error, {}, options);
}

Answer read(const Answered& answered) {
    boost::system::error_code error;
    auto body = parse(answered.body, error);
    if (error || !body.is_object()) return {};
    Answer answer{text_at(body, "id"), {}};
    if (const auto* e = body.as_object().if_contains("error"))
        answer.error = {
            text_at(*e, "type"),
            text_at(*e, "code"),
            text_at(*e, "decline_code"),
            text_at(*e, "message"),
            text_at(*e, "param")};
    answer.members = std::move(body.as_object());
    return answer;
}

// For operators: "429 invalid_request_error rate_limit (request req_1): Too many requests."
// Stripe's dashboard and support find a request by its id.
std::string text_of(const Answered& answered, const StripeError& error) {
    std::string text = std::to_string(answered.status);
    for (const auto* word : {&error.type, &error.code, &error.decline_code})
        if (!word->empty()) text += ' ' + *word;
    if (const auto id = answered.header("Request-Id"))
        text += " (request " + std::string{*id} + ")";
    return error.message.empty() ? text : text + ": " + error.message;
}

// Classifies every answer but a success and a refusal of the order itself. Stripe stores the first
// answer under a key, also a 500: a repeat of that never changes (F8). A load balancer or proxy
// between us and Stripe may answer, too, which proves nothing: only an error in Stripe's own form
// comes from Stripe. What its types lead to:
//   card_error             Declined, see outcome_of()
//   api_error              InDoubt, and Stuck if it is repeated from the key's memory
//   idempotency_error      409, another request with the key runs: InDoubt; 400, another request
//                          had the key: Stuck
//   invalid_request_error  401 or 403 (the API key), 429 (the limit): Retry; else Stuck
template <class Outcome>
Outcome trouble(const Answered& answered, const StripeError& error) {
    const bool replayed = answered.header("Idempotent-Replayed").value_or("") == "true";
    const int status = answered.status;
    const auto said = text_of(answered, error);
    if (status >= 500 && replayed) return Stuck{"the provider repeats a stored error: " + said};
    const bool passing = status == 408 || status == 409 || status == 425;
    if (status < 400 || status >= 500 || passing || error.type.empty())
        return InDoubt{"the provider said " + said};
    if (status == 429 || status == 401 || status == 403) return Retry{"the provider said " + said};
    return Stuck{"the provider refused the request: " + said};
}

// `refuses`: whether an answer is the provider's final refusal of this order.
template <class Done, class Refusal, class Refuses>
pawl::Outcome<Done, Refusal> outcome_of(
    const ClientResult& end, const Wanted& wanted, Refuses refuses
) {
    if (const auto* gave_up = std::get_if<pawl::GaveUp>(&end)) {
        if (gave_up->in_doubt) return InDoubt{gave_up->why};
        return Retry{gave_up->why};
    }
    const auto& answered = std::get<Answered>(end);
    auto answer = read(answered);
    if (answered.status == 200) {
        if (answer.id.empty()) return InDoubt{"an answer without an id"};
        if (!is_provider_id(answer.id))
            return Stuck{"the provider's answer has an id that is none"};
        if (const auto why = difference(answer.members, wanted))
            return Stuck{
                "the provider's answer is not what was asked: " + *why + ", of " + answer.id};
        return Done{std::move(answer.id)};
    }
    if (!refuses(answered.status, answer.error))
        return trouble<pawl::Outcome<Done, Refusal>>(answered, answer.error);
    auto& error = answer.error;
    if constexpr (std::is_same_v<Refusal, Declined>)
        return Declined{
            std::move(error.code), std::move(error.message), std::move(error.decline_code)};
    else
        return Refusal{std::move(error.code), std::move(error.message)};
}

// The rider is shown the message only: a decline code such as stolen_card is for the operator.
template <class Done>
pawl::Outcome<Done, Declined> card_outcome(const ClientResult& end, const Wanted& wanted) {
    return outcome_of<Done, Declined>(end, wanted, [&](int, const StripeError& error) {
        if (error.type != "card_error") return false;
        const auto id = std::get<Answered>(end).header("Request-Id").value_or("");
        pawl::log::limited_info(
            "card_declined",
            {},
            {{"code", error.code}, {"decline_code", error.decline_code}, {"request", id}},
            20
        );
        return true;
    });
}

std::string customer_form(const CustomerOrder& order) {
    std::string form;
    add(form, "email", order.email);
    if (order.source) add(form, "source", *order.source);
    return form;
}

std::string charge_form(const ChargeOrder& order) {
    std::string form;
    add(form, "amount", std::to_string(order.amount));
    add(form, "currency", order.currency);
    add(form, "customer", order.customer);
    add(form, "description", order.description);
    return form;
}

// 48 bits of a hash of the API key: they distinguish two keys and reveal neither.
std::string target_of(const Stripe::Where& where) {
    auto shown = where.url;
    if (const auto parsed = boost::urls::parse_uri(where.url); parsed && parsed->has_password())
        shown = std::string{boost::urls::url{*parsed}.set_password("***").buffer()};
    while (shown.ends_with('/')) shown.pop_back();
    const auto account = where.account.empty()
                             ? "key " + sha256("stripe api key " + where.api_key).substr(0, 12)
                             : where.account;
    return "stripe " + shown + " account " + account;
}

pawl::ClientRequest post_of(std::string path, std::string form) {
    return {
        .method = "POST",
        .target = std::move(path),
        .body = std::move(form),
        .content_type = "application/x-www-form-urlencoded"};
}

}  // namespace

Stripe::Stripe(Where where, int connections_max)
    : target_{target_of(where)},
      livemode_{livemode_of(where.api_key)},
      client_{
          {.url = where.url,
           .headers =
               {{"Authorization", "Bearer " + where.api_key}, {"Stripe-Version", where.version}},
           .timeout = timeout,
           .breaker_failures = 0,
           .connections_max = connections_max}} {}

pawl::Outcome<Customer, Declined> Stripe::make_customer(
    pawl::Call& call, const CustomerOrder& order
) {
    auto form = customer_form(order);
    const auto key = pawl::entity_key("rider", sha256(form).substr(0, 32), "customer");
    Wanted wanted{{"object", {"customer"}}, {"deleted", {false}}};
    add_mode(wanted, livemode_);
    return card_outcome<Customer>(
        client_.perform(call, post_of("/v1/customers", std::move(form)), key), wanted
    );
}

pawl::Outcome<Charge, Declined> Stripe::charge(pawl::KeyedCall& call, const ChargeOrder& order) {
    return card_outcome<Charge>(
        client_.perform(call, post_of("/v1/charges", charge_form(order))),
        wanted_charge(order, true, livemode_)
    );
}

pawl::Outcome<Charge, Declined> Stripe::charge_once(pawl::Call& call, const ChargeOrder& order) {
    return card_outcome<Charge>(
        client_.send_once(call, post_of("/v1/charges", charge_form(order))),
        wanted_charge(order, true, livemode_)
    );
}

std::optional<bool> livemode_of(std::string_view api_key) {
    const auto begin = api_key.substr(0, 8);
    if (begin == "sk_live_" || begin == "rk_live_") return true;
    if (begin == "sk_test_" || begin == "rk_test_") return false;
    return std::nullopt;
}

std::string storable_text(std::string text) {
    constexpr std::size_t bytes_max = 1'000;
    std::ranges::replace(text, '\0', '?');
    if (text.size() <= bytes_max) return text;
    text.resize(bytes_max);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0U) == 0x80U)
        text.pop_back();
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xc0U) text.pop_back();
    return text;
}

std::optional<pawl::TimePoint> time_of_seconds(double seconds) {
    constexpr double year_10000 = 253'402'300'800.0;
    if (!(seconds >= 0 && seconds < year_10000)) return std::nullopt;
    return pawl::TimePoint{std::chrono::seconds{static_cast<std::int64_t>(seconds)}};
}

bool is_provider_id(std::string_view text) {
    return !text.empty() && text.size() <= 255 &&
           std::ranges::all_of(text, [](char letter) { return letter > ' ' && letter <= '~'; });
}

namespace {

BookedCharge charge_of(const boost::json::value& value) {
    const auto storable_at = [&](const char* name) { return storable_text(text_at(value, name)); };
    const auto number_at = [&](const char* name) {
        const auto* member = value.as_object().if_contains(name);
        const auto number = member != nullptr ? plain(*member) : boost::json::value{};
        return number.is_int64() ? number.get_int64() : 0;
    };
    return {
        storable_at("id"),
        number_at("amount"),
        storable_at("currency"),
        storable_at("customer"),
        storable_at("description"),
        number_at("created"),
        number_at("amount_refunded")};
}

}  // namespace

Answered Stripe::get(const std::string& path) {
    auto end = client_.get(path);
    if (const auto* gave_up = std::get_if<pawl::GaveUp>(&end))
        throw std::runtime_error{"the provider did not answer: " + gave_up->why};
    return std::get<Answered>(std::move(end));
}

ChargePage Stripe::list_charges(const ChargeQuery& query) {
    auto path = "/v1/charges?limit=100&created%5Bgte%5D=" + std::to_string(query.since) +
                "&created%5Blt%5D=" + std::to_string(query.until);
    if (!query.after.empty())
        path +=
            "&starting_after=" + boost::urls::encode(query.after, boost::urls::unreserved_chars);
    const auto answered = get(path);
    boost::system::error_code error;
    const auto body = parse(answered.body, error);
    const auto* data = !error && body.is_object() ? body.as_object().if_contains("data") : nullptr;
    if (answered.status != 200 || data == nullptr || !data->is_array())
        throw std::runtime_error{
            "the provider did not list its charges: status " + std::to_string(answered.status) +
            " " + read(answered).error.message};
    ChargePage page;
    for (const auto& one : data->get_array())
        if (one.is_object()) page.charges.push_back(charge_of(one));
    const auto* more = body.as_object().if_contains("has_more");
    page.has_more = more != nullptr && more->is_bool() && more->get_bool();
    if (page.has_more && (page.charges.empty() || page.charges.back().id.empty() ||
                          page.charges.back().id == query.after))
        throw std::runtime_error{
            "the provider's list of charges does not go on after " + query.after};
    return page;
}

std::optional<BookedCharge> Stripe::find_charge(const std::string& id) {
    const auto answered =
        get("/v1/charges/" + boost::urls::encode(id, boost::urls::unreserved_chars));
    if (answered.status == 404) return std::nullopt;
    boost::system::error_code error;
    const auto body = parse(answered.body, error);
    if (answered.status != 200 || error || !body.is_object())
        throw std::runtime_error{
            "the provider did not show the charge " + id + ": status " +
            std::to_string(answered.status)};
    return charge_of(body);
}

pawl::Outcome<Refund, RefundRefused> Stripe::refund(
    pawl::KeyedCall& call, const RefundOrder& order
) {
    std::string form;
    add(form, "charge", order.charge);
    add(form, "amount", std::to_string(order.amount));
    auto wanted = wanted_refund(livemode_);
    wanted.push_back({"amount", {order.amount}});
    wanted.push_back({"charge", {order.charge}});
    return outcome_of<Refund, RefundRefused>(
        client_.perform(call, post_of("/v1/refunds", std::move(form))),
        wanted,
        [](int status, const StripeError& error) {
            // Nothing is left of the charge, or less than the amount.
            return status == 400 &&
                   (error.code == "charge_already_refunded" ||
                    (error.type == "invalid_request_error" && error.param == "amount"));
        }
    );
}

pawl::Outcome<Charge, Declined> Stripe::authorise(pawl::KeyedCall& call, const ChargeOrder& order) {
    auto form = charge_form(order);
    add(form, "capture", "false");
    return card_outcome<Charge>(
        client_.perform(call, post_of("/v1/charges", std::move(form))),
        wanted_charge(order, false, livemode_)
    );
}

pawl::Outcome<Charge, CaptureRefused> Stripe::capture(
    pawl::KeyedCall& call, const CaptureOrder& order
) {
    std::string form;
    add(form, "amount", std::to_string(order.amount));
    const auto id = boost::urls::encode(order.charge, boost::urls::unreserved_chars);
    Wanted wanted{
        {"object", {"charge"}},
        {"id", {order.charge}},
        {"amount_captured", {order.amount}},
        {"status", {"succeeded"}},
        {"captured", {true}}};
    add_mode(wanted, livemode_);
    return outcome_of<Charge, CaptureRefused>(
        client_.perform(call, post_of("/v1/charges/" + id + "/capture", std::move(form))),
        wanted,
        [](int status, const StripeError& error) {
            // It has expired, or was voided elsewhere: nothing is captured, and nothing is held.
            // One that was captured elsewhere is for a person.
            return status == 400 && (error.code == "charge_expired_for_capture" ||
                                     error.code == "charge_already_refunded");
        }
    );
}

pawl::Outcome<Refund, RefundRefused> Stripe::pay_back(pawl::Call& call, const std::string& charge) {
    std::string form;
    add(form, "charge", charge);
    auto wanted = wanted_refund(livemode_);
    wanted.push_back({"charge", {charge}});
    return outcome_of<Refund, RefundRefused>(
        client_.perform(
            call,
            post_of("/v1/refunds", std::move(form)),
            pawl::entity_key("charge", charge, "pay-back")
        ),
        wanted,
        [](int status, const StripeError& error) {
            return status == 400 && error.code == "charge_already_refunded";
        }
    );
}

}  // namespace rides
