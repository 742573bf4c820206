#include "apps/standins/provider_bank.hpp"

#include "src/base/time_text.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <utility>

namespace rides {

namespace json = boost::json;

namespace {

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

// Of a charge's JSON, which is not parsed, so that a page of a list costs little.
std::int64_t created_of(std::string_view body) {
    constexpr std::string_view name = "\"created\":";
    const auto at = body.find(name);
    if (at == body.npos) return 0;
    const auto digits = body.find_first_not_of(' ', at + name.size());
    std::int64_t seconds = 0;
    std::from_chars(
        body.data() + std::min(digits, body.size()), body.data() + body.size(), seconds
    );
    return seconds;
}

bool is_hold(const BankRequest& request) {
    return bank_field(request, "capture") == "false";
}

}  // namespace

std::string bank_field(const BankRequest& request, const char* name) {
    const auto at = request.form.find(name);
    return at == request.form.end() ? std::string{} : at->second;
}

std::optional<std::int64_t> bank_number(const std::string& text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::int64_t bank_seconds(pawl::TimePoint now) {
    return std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
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
    if (kind != "error" && kind != "decline") {
        const auto* amount = entry.if_contains("amount");
        keep(
            {kind,
             text("id"),
             text("object"),
             amount != nullptr ? amount->to_number<std::int64_t>() : 0,
             text("charge")}
        );
    }
    const auto key = text("key");
    if (key.empty() || entry.if_contains("forgotten") != nullptr) return;
    keys_[text("account") + "\n" + key] = {
        text("fingerprint"),
        entry.at("status").to_number<int>(),
        text("body"),
        pawl::base::time_from_text(text("at")).value_or(pawl::TimePoint{}),
        false,
        text("request")};
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
    if (auto known = known_answer(request, print, now)) {
        lock.unlock();
        return tell(std::move(*known));
    }
    auto outcome = decide(request, faults, now);
    outcome.answer.key = request.key;
    const std::string_view kind = outcome.booked ? std::string_view{outcome.booked->kind} : "";
    if (kind == "charge" || kind == "refund") {
        const bool refund = kind == "refund";
        outcome.answer.charge = refund ? outcome.booked->charge : outcome.booked->id;
        outcome.answer.event = refund ? "charge.refunded" : "charge.succeeded";
    }
    if (!outcome.remember && !outcome.booked) {
        lock.unlock();
        return tell(std::move(outcome.answer));
    }
    if (keyed && outcome.remember)
        keys_[name] = {print, outcome.answer.status, outcome.answer.body, now, true, request.id};
    auto line = line_of(request, outcome, now);
    lock.unlock();
    ledger_.append(
        std::move(line),
        [this, name, tell = std::move(tell), answer = std::move(outcome.answer)] {
            {
                const std::lock_guard done{mutex_};
                if (const auto at = keys_.find(name); at != keys_.end())
                    at->second.in_progress = false;
            }
            tell(answer);
        }
    );
}

// The answer for a key that was used before.
std::optional<BankAnswer> Bank::known_answer(
    const BankRequest& request, const std::string& print, pawl::TimePoint now
) const {
    const auto at = keys_.find(request.account + "\n" + request.key);
    if (request.key.empty() || at == keys_.end() || now - at->second.at >= forget_keys_after_)
        return std::nullopt;
    const auto& first = at->second;
    if (first.fingerprint != print) {
        const auto message =
            "Keys for idempotent requests can only be used with the same parameters they were "
            "first used with. Try using a key other than '" +
            request.key + "' if you meant to execute a different request.";
        return stripe_error({.status = 400, .type = "idempotency_error", .message = message});
    }
    if (first.in_progress)
        return stripe_error(
            {.status = 409,
             .type = "idempotency_error",
             .code = "idempotency_key_in_use",
             .message = "There is currently another in-progress request using this Idempotent Key."}
        );
    return BankAnswer{
        .status = first.status,
        .body = first.body,
        .key = request.key,
        .replayed = true,
        .original = first.request};
}

Bank::Outcome Bank::decide(const BankRequest& request, const Faults& faults, pawl::TimePoint now) {
    if (request.path == "/v1/customers") return customer(request, now);
    if (request.path == "/v1/charges") return charge(request, faults, now);
    if (request.path == "/v1/refunds") return refund(request, faults, now);
    if (request.path.starts_with("/v1/charges/") && request.path.ends_with("/capture"))
        return capture(request, faults, now);
    return {no_such_url("POST", request.path), false};
}

Bank::Outcome Bank::charge(const BankRequest& request, const Faults& faults, pawl::TimePoint now) {
    const auto amount = bank_number(bank_field(request, "amount"));
    const auto customer = bank_field(request, "customer");
    if (bank_field(request, "amount").empty()) return {missing_parameter("amount"), false};
    if (!amount) return {no_whole_number("amount", bank_field(request, "amount")), false};
    if (*amount < 50)
        return passing(
            {.status = 400,
             .type = wrong_request,
             .code = "amount_too_small",
             .message = "Amount must be at least 50 cents.",
             .param = "amount"}
        );
    if (bank_field(request, "currency").size() != 3) return {missing_parameter("currency"), false};
    if (customer.empty()) return {missing_parameter("customer"), false};
    const int tries = try_of(request);
    if (auto passing = fault_before(customer, tries)) return std::move(*passing);
    if (auto refused = fault_of(request, faults)) return std::move(*refused);
    Outcome outcome;
    outcome.booked = book_charge(request, now);
    outcome.answer.body = outcome.booked->body;
    spoil(outcome, customer, tries);
    return outcome;
}

// Faults that are remembered although no charge is booked.
std::optional<Bank::Outcome> Bank::fault_of(const BankRequest& request, const Faults& faults) {
    const auto customer = bank_field(request, "customer");
    const bool only_holds = customer.starts_with("cus_holdonly") && !is_hold(request);
    if (faults.decline || customer.starts_with("cus_declined") || only_holds)
        return remembered(
            {.status = 402,
             .type = "card_error",
             .code = "card_declined",
             .message = "Your card was declined.",
             .charge = id_of("ch_", next_++),
             .decline_code = faults.decline_code}
        );
    if (customer.starts_with("cus_500")) return Outcome{broken()};
    return std::nullopt;
}

Bank::Booked Bank::book_charge(const BankRequest& request, pawl::TimePoint now) {
    const bool hold = is_hold(request);
    Booked booked{
        hold ? "hold" : "charge",
        id_of("ch_", next_++),
        {},
        *bank_number(bank_field(request, "amount")),
        {}};
    booked.body = json::serialize(json::object{
        {"id", booked.id},
        {"object", "charge"},
        {"amount", booked.amount},
        {"amount_captured", hold ? 0 : booked.amount},
        {"amount_refunded", 0},
        {"captured", !hold},
        {"created", bank_seconds(now)},
        {"currency", bank_field(request, "currency")},
        {"customer", bank_field(request, "customer")},
        {"description", bank_field(request, "description")},
        {"livemode", false},
        {"paid", true},
        {"refunded", false},
        {"status", "succeeded"}});
    keep(booked);
    return booked;
}

// A line of the ledger, when it is written or read.
void Bank::keep(Booked booked) {
    if (booked.kind == "capture" || booked.kind == "void" || booked.kind == "expired")
        return keep_end_of_hold(std::move(booked));
    if (booked.kind == "charge" || booked.kind == "hold") return keep_charge(std::move(booked));
    if (booked.kind == "refund") {
        ++refunds_;
        refunded_[booked.charge] += booked.amount;
    }
    booked_[booked.id] = std::move(booked);
}

void Bank::keep_charge(Booked charge) {
    if (charge.kind == "hold")
        holds_[charge.id] = {};
    else
        ++charges_;
    charge.kind = "charge";
    charge.position = charge_ids_.size();
    charge_ids_.push_back(charge.id);
    booked_[charge.id] = std::move(charge);
}

Bank::Outcome Bank::refund(const BankRequest& request, const Faults& faults, pawl::TimePoint now) {
    const auto of = bank_field(request, "charge");
    const auto given = bank_field(request, "amount");
    if (of.empty()) return {missing_parameter("charge"), false};
    const auto charged = booked_.find(of);
    if (charged == booked_.end() || charged->second.kind != "charge")
        return {no_such("charge", of, "charge"), false};
    const StripeProblem refunded{
        .status = 400,
        .type = wrong_request,
        .code = "charge_already_refunded",
        .message = "The charge has already been refunded."};
    if (auto over = expired(charged->second, refunded, faults, now)) return std::move(*over);
    const auto left = left_of(charged->second);
    if (left == 0) return remembered(refunded);
    const auto amount = given.empty() ? left : bank_number(given).value_or(0);
    if (amount < 1) return {no_whole_number("amount", given), false};
    const bool is_void = is_open_hold(of);
    if (amount > left || (is_void && amount != left))
        return remembered(
            {.status = 400,
             .type = wrong_request,
             .message = "Refund amount is greater than unrefunded amount on charge.",
             .param = "amount"}
        );
    Booked booked{is_void ? "void" : "refund", id_of("re_", next_++), {}, amount, of};
    booked.body = json::serialize(json::object{
        {"id", booked.id},
        {"object", "refund"},
        {"amount", amount},
        {"charge", of},
        {"created", bank_seconds(now)},
        {"status", "succeeded"}});
    return book_on(charged->second, std::move(booked), try_of(request));
}

std::string Bank::line_of(const BankRequest& request, const Outcome& outcome, pawl::TimePoint now)
    const {
    json::object line{{"at", pawl::base::time_text(now)}};
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
    line["customer"] = bank_field(request, "customer");
    if (const auto email = bank_field(request, "email"); !email.empty()) line["email"] = email;
    line["description"] = bank_field(request, "description");
    line["key"] = request.key;
    line["request"] = request.id;
    if (!request.traceparent.empty()) line["traceparent"] = request.traceparent;
    if (!outcome.remember) line["forgotten"] = true;
    line["fingerprint"] = fingerprint(request);
    line["status"] = outcome.answer.status;
    line["body"] = outcome.answer.body;
    return json::serialize(line);
}

// The current state: a charge includes its refunds.
BankAnswer Bank::find(const std::string& path) const {
    const std::lock_guard lock{mutex_};
    constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kinds{
        {{"/v1/charges/", "charge"}, {"/v1/customers/", "customer"}, {"/v1/refunds/", "refund"}}};
    for (const auto& [prefix, kind] : kinds) {
        if (!path.starts_with(prefix)) continue;
        const auto id = path.substr(prefix.size());
        const auto at = booked_.find(id);
        if (at == booked_.end() || at->second.kind != kind) return no_such(kind, id, "id");
        return {.status = 200, .body = json::serialize(as_it_is(at->second)), .key = {}};
    }
    return no_such_url("GET", path);
}

json_object Bank::as_it_is(const Booked& booked) const {
    auto object = json::parse(booked.body).as_object();
    if (booked.kind != "charge") return object;
    const auto back = refunded_.find(booked.id);
    object["amount_refunded"] = back == refunded_.end() ? 0 : back->second;
    if (holds_.contains(booked.id)) show_hold(booked, object);
    object["refunded"] = left_of(booked) == 0;
    return object;
}

BankAnswer Bank::list_charges(const std::map<std::string, std::string>& query) const {
    const std::lock_guard lock{mutex_};
    std::map<std::string, std::int64_t> numbers{
        {"limit", 10}, {"created[gte]", 0}, {"created[lt]", std::int64_t{1} << 60}};
    std::size_t next = charge_ids_.size();  // The index after the newest charge asked for.
    for (const auto& [name, value] : query) {
        if (name == "starting_after") {
            const auto at = booked_.find(value);
            if (at == booked_.end() || at->second.kind != "charge")
                return no_such("charge", value, name);
            next = at->second.position;
            continue;
        }
        const auto of = numbers.find(name);
        const auto given = bank_number(value);
        if (of == numbers.end())
            return stripe_error(
                {.status = 400,
                 .type = wrong_request,
                 .code = "parameter_unknown",
                 .message = "Received unknown parameter: " + name,
                 .param = name}
            );
        if (!given || (name == "limit" && (*given < 1 || *given > 100)))
            return no_whole_number(name, value);
        of->second = *given;
    }
    std::string data;
    std::int64_t count = 0;
    bool more = false;
    while (next > 0 && !more) {
        const auto& charge = booked_.at(charge_ids_[--next]);
        const auto created = created_of(charge.body);
        if (created < numbers["created[gte]"]) break;
        if (created >= numbers["created[lt]"]) continue;
        more = count++ == numbers["limit"];
        if (more) continue;
        if (!data.empty()) data += ',';
        const bool changed = refunded_.contains(charge.id) || holds_.contains(charge.id);
        data += changed ? json::serialize(as_it_is(charge)) : charge.body;
    }
    return {
        .status = 200,
        .body = std::string{R"({"object":"list","url":"/v1/charges","has_more":)"} +
                (more ? "true" : "false") + ",\"data\":[" + data + "]}",
        .key = {}};
}

std::string Bank::summary() const {
    const std::lock_guard lock{mutex_};
    return json::serialize(json::object{
        {"charges", charges_}, {"refunds", refunds_}, {"keys", keys_.size()}});
}

}  // namespace rides
