#include "apps/rides/provider_bank.hpp"

#include "src/core/time_text.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <array>
#include <charconv>
#include <cstdio>
#include <optional>
#include <utility>

namespace rides {

namespace json = boost::json;

namespace {

std::optional<std::int64_t> number(const std::string& text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string field(const BankRequest& request, const char* name) {
    const auto at = request.form.find(name);
    return at == request.form.end() ? std::string{} : at->second;
}

std::string fingerprint(const BankRequest& request) {
    std::string text = request.path;
    for (const auto& [name, value] : request.form)
        text.append("\n").append(name).append("=").append(value);
    return text;
}

std::string id_of(const char* prefix, std::uint64_t n) {
    std::array<char, 32> text{};
    std::snprintf(
        text.data(), text.size(), "%s%012llu", prefix, static_cast<unsigned long long>(n)
    );
    return text.data();
}

BankAnswer missing(const char* param) {
    auto answer = stripe_error(
        400,
        "invalid_request_error",
        "parameter_missing",
        std::string{"Missing required param: "} + param + "."
    );
    return answer;
}

}  // namespace

BankAnswer stripe_error(
    int status, std::string_view type, std::string_view code, std::string_view message
) {
    json::object error{{"type", type}, {"message", message}};
    if (!code.empty()) error["code"] = code;
    if (code == "card_declined") error["decline_code"] = "generic_decline";
    return {.status = status, .body = json::serialize(json::object{{"error", error}}), .key = {}};
}

Bank::Bank(const File& file, std::chrono::seconds forget_keys_after)
    : forget_keys_after_{forget_keys_after}, next_{file.first_id}, ledger_{file.path, file.sync} {
    load();
}

void Bank::load() {
    for (const auto& line : ledger_.lines()) load_line(line);
}

void Bank::load_line(const std::string& line) {
    boost::system::error_code error;
    const auto value = json::parse(line, error);
    if (error || !value.is_object()) return;
    const auto& entry = value.as_object();
    auto text = [&](const char* name) {
        const auto* member = entry.if_contains(name);
        return member != nullptr && member->is_string() ? std::string{member->get_string()}
                                                        : std::string{};
    };
    ++next_;
    const auto kind = text("kind");
    if (kind == "charge" || kind == "refund") {
        Booked booked{
            kind,
            text("id"),
            text("object"),
            entry.at("amount").to_number<std::int64_t>(),
            text("charge")};
        if (kind == "charge") ++charges_;
        if (kind == "refund") {
            ++refunds_;
            refunded_[booked.charge] += booked.amount;
        }
        booked_[booked.id] = std::move(booked);
    }
    const auto key = text("key");
    if (key.empty() || entry.if_contains("forgotten") != nullptr) return;
    keys_[text("account") + "\n" + key] = {
        text("fingerprint"),
        entry.at("status").to_number<int>(),
        text("body"),
        pawl::core::time_from_text(text("at")).value_or(pawl::TimePoint{}),
        false};
}

void Bank::execute(
    const BankRequest& request,
    const Faults& faults,
    pawl::TimePoint now,
    std::function<void(BankAnswer)> tell
) {
    std::unique_lock lock{mutex_};
    const auto name = request.account + "\n" + request.key;
    const auto print = fingerprint(request);
    const bool keyed = !request.key.empty();
    if (const auto at = keys_.find(name);
        keyed && at != keys_.end() && now - at->second.at < forget_keys_after_) {
        BankAnswer answer;
        if (at->second.fingerprint != print)
            answer = stripe_error(
                400,
                "idempotency_error",
                "",
                "Keys for idempotent requests can only be used with the same parameters they were "
                "first used with."
            );
        else if (at->second.at_work)
            answer = stripe_error(
                409,
                "idempotency_error",
                "idempotency_key_in_use",
                "There is currently another in-progress request using this Idempotent Key."
            );
        else
            answer = {
                .status = at->second.status,
                .body = at->second.body,
                .key = request.key,
                .replayed = true};
        lock.unlock();
        return tell(std::move(answer));
    }
    auto outcome = decide(request, faults);
    outcome.answer.key = request.key;
    if (!outcome.remember && !outcome.booked) {
        lock.unlock();
        return tell(std::move(outcome.answer));
    }
    if (keyed && outcome.remember)
        keys_[name] = {print, outcome.answer.status, outcome.answer.body, now, true};
    auto line = line_of(request, outcome, now);
    lock.unlock();
    ledger_.append(
        std::move(line),
        [this, name, tell = std::move(tell), answer = std::move(outcome.answer)] {
            {
                const std::lock_guard done{mutex_};
                if (const auto at = keys_.find(name); at != keys_.end()) at->second.at_work = false;
            }
            tell(answer);
        }
    );
}

Bank::Outcome Bank::decide(const BankRequest& request, const Faults& faults) {
    if (request.path == "/v1/charges") return charge(request, faults);
    if (request.path == "/v1/refunds") return refund(request);
    return {
        stripe_error(404, "invalid_request_error", "resource_missing", "Unrecognized request URL."),
        false,
        {}};
}

Bank::Outcome Bank::charge(const BankRequest& request, const Faults& faults) {
    const auto amount = number(field(request, "amount"));
    const auto customer = field(request, "customer");
    if (!amount) return {missing("amount"), false, {}};
    if (*amount < 50)
        return {
            stripe_error(
                400,
                "invalid_request_error",
                "amount_too_small",
                "Amount must be at least 50 cents."
            ),
            false,
            {}};
    if (field(request, "currency").size() != 3) return {missing("currency"), false, {}};
    if (customer.empty()) return {missing("customer"), false, {}};
    const int tries = ++tries_[request.account + "\n" + request.key];
    auto is = [&](std::string_view name) { return customer.starts_with(name); };
    if (is("cus_503once") ? tries == 1 : is("cus_503"))
        return {stripe_error(503, "api_error", "", "Try again."), false, {}};
    if (is("cus_429once") && tries == 1)
        return {stripe_error(429, "rate_limit_error", "", "Too many requests."), false, {}};
    if (faults.decline || is("cus_declined"))
        return {
            stripe_error(402, "card_error", "card_declined", "Your card was declined."), true, {}};
    if (is("cus_500"))
        return {stripe_error(500, "api_error", "", "Something went wrong."), true, {}};
    Outcome outcome;
    outcome.booked = book_charge(request);
    outcome.answer.body = outcome.booked->body;
    if (is("cus_charged500")) {
        outcome.answer = stripe_error(500, "api_error", "", "Something went wrong.");
    }
    outcome.remember = !is("cus_forgets");
    if (is("cus_slow")) outcome.answer.delay = std::chrono::milliseconds{300};
    outcome.answer.never = is("cus_timeout") || (is("cus_once") && tries == 1);
    return outcome;
}

Bank::Booked Bank::book_charge(const BankRequest& request) {
    Booked booked{"charge", id_of("ch_", next_++), {}, *number(field(request, "amount")), {}};
    booked.body = json::serialize(json::object{
        {"id", booked.id},
        {"object", "charge"},
        {"amount", booked.amount},
        {"currency", field(request, "currency")},
        {"customer", field(request, "customer")},
        {"description", field(request, "description")},
        {"paid", true},
        {"refunded", false},
        {"status", "succeeded"}});
    booked_[booked.id] = booked;
    ++charges_;
    return booked;
}

Bank::Outcome Bank::refund(const BankRequest& request) {
    const auto of = field(request, "charge");
    const auto charged = booked_.find(of);
    if (charged == booked_.end())
        return {
            stripe_error(
                404, "invalid_request_error", "resource_missing", "No such charge: '" + of + "'"
            ),
            false,
            {}};
    const auto amount = field(request, "amount").empty()
                            ? charged->second.amount
                            : number(field(request, "amount")).value_or(-1);
    if (amount < 1) return {missing("amount"), false, {}};
    if (refunded_[of] + amount > charged->second.amount)
        return {
            stripe_error(
                400,
                "invalid_request_error",
                "charge_already_refunded",
                "Charge " + of + " has already been refunded."
            ),
            true,
            {}};
    Booked booked{"refund", id_of("re_", next_++), {}, amount, of};
    booked.body = json::serialize(json::object{
        {"id", booked.id},
        {"object", "refund"},
        {"amount", amount},
        {"charge", of},
        {"status", "succeeded"}});
    refunded_[of] += amount;
    booked_[booked.id] = booked;
    ++refunds_;
    Outcome outcome;
    outcome.answer.body = booked.body;
    outcome.booked = std::move(booked);
    return outcome;
}

std::string Bank::line_of(const BankRequest& request, const Outcome& outcome, pawl::TimePoint now)
    const {
    json::object line{{"at", pawl::core::time_text(now)}};
    if (outcome.booked) {
        line["kind"] = outcome.booked->kind;
        line["id"] = outcome.booked->id;
        line["amount"] = outcome.booked->amount;
        line["object"] = outcome.booked->body;
        if (!outcome.booked->charge.empty()) line["charge"] = outcome.booked->charge;
    } else {
        line["kind"] = outcome.answer.status == 402 ? "decline" : "error";
    }
    line["account"] = request.account;
    line["customer"] = field(request, "customer");
    line["description"] = field(request, "description");
    line["key"] = request.key;
    if (!outcome.remember) line["forgotten"] = true;
    line["fingerprint"] = fingerprint(request);
    line["status"] = outcome.answer.status;
    line["body"] = outcome.answer.body;
    return json::serialize(line);
}

BankAnswer Bank::find(const std::string& path) const {
    const std::lock_guard lock{mutex_};
    const auto at = booked_.find(path.substr(path.rfind('/') + 1));
    if (at == booked_.end())
        return stripe_error(404, "invalid_request_error", "resource_missing", "No such object.");
    return {.status = 200, .body = at->second.body, .key = {}};
}

std::string Bank::summary() const {
    const std::lock_guard lock{mutex_};
    return json::serialize(json::object{
        {"charges", charges_}, {"refunds", refunds_}, {"keys", keys_.size()}});
}

}  // namespace rides
