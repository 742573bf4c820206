#include "apps/standins/second_provider.hpp"

#include "apps/standins/provider_ledger.hpp"
#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/http/http_date.hpp"
#include "src/http/listener.hpp"
#include "src/json/form.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace rides {

namespace json = boost::json;
using pawl::http::Listener;
using pawl::http::Reply;
using pawl::http::Request;
using pawl::http::Responder;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t key_max = 32;
constexpr auto capture_after = 200ms;  // Of a pending payment.

struct Order {
    std::string reference;
    std::int64_t amount{};
    std::string key;
    std::string_view api;
};

Reply json_reply(int status, const json::object& body) {
    return {
        .status = status,
        .headers = {{"Content-Type", "application/json"}},
        .body = json::serialize(body)};
}

Reply refusal(int status, std::string_view reason, std::string_view detail) {
    return json_reply(status, {{"reason", reason}, {"detail", detail}});
}

// As a proxy in front of the provider answers.
Reply gateway_error() {
    return {
        .status = 504,
        .headers = {{"Content-Type", "text/html"}},
        .body = "<html><h1>504 Gateway Time-out</h1></html>"};
}

std::map<std::string, std::string> pairs_of(std::string_view text) {
    std::map<std::string, std::string> found;
    const auto pairs = pawl::json::parse_pairs(text);
    if (const auto* list = std::get_if<std::vector<pawl::json::Pair>>(&pairs))
        for (const auto& pair : *list) found[pair.name] = pair.value;
    return found;
}

std::int64_t number_of(const std::string& text) {
    const bool digits = !text.empty() && text.size() < 16 &&
                        std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
    return digits ? std::stoll(text) : 0;
}

std::optional<std::string> share_problem(std::string_view name, double share) {
    if (share >= 0 && share <= 1) return std::nullopt;
    return std::string{name} + " is " + std::to_string(share) + ": a share from 0 to 1";
}

}  // namespace

std::optional<std::string> SecondProviderOptions::problem() const {
    if (ledger.empty()) return "--ledger is empty: the file that holds what was captured";
    if (auto why = share_problem("--pending", pending)) return why;
    const auto& l = losses;
    if (auto why = share_problem("--bad-line", l.bad_line)) return why;
    return share_problem(
        "--soft-declines and --hard-declines together with --bad-line",
        l.bad_line + l.soft_declines + l.hard_declines
    );
}

struct SecondProvider::Impl {
    explicit Impl(SecondProviderOptions given);

    struct Payment {
        std::string id;
        Order order;
        bool captured{};
    };
    using Answer = std::function<void(Reply)>;

    void serve(const Request& request, Responder respond);
    void order(const Order& order, Answer answer);
    void show(const Request& request, Answer answer, bool may_wait);
    void list(const std::string& reference, const Answer& answer);
    void carry_out(const Order& order, const Answer& answer);
    void capture(const std::string& id, std::function<void()> then);
    Reply state_of(const Payment& payment, int captured_status) const;
    Reply refused(const Order& order, bool softly) const;
    double dice() { return pawl::base::system_random().dice(); }

    SecondProviderOptions options;
    std::mutex mutex;
    std::map<std::string, Payment> payments;               // By id.
    std::map<std::string, std::string> by_key;             // Ids, by key.
    std::multimap<std::string, std::string> by_reference;  // Ids.
    std::uint64_t next{1};
    Ledger ledger;
    Listener listener;
};

SecondProvider::Impl::Impl(SecondProviderOptions given)
    : options{std::move(given)},
      ledger{options.ledger, options.ledger_sync ? Ledger::Sync::yes : Ledger::Sync::no},
      listener{
          {.listen = options.listen},
          Listener::Handlers{
              .on_head = Listener::accept_all([this](const Request& request, Responder respond) {
                  serve(request, std::move(respond));
              }),
              .on_error =
                  [](int status, std::string_view why, const pawl::RequestHead&) {
                      return refusal(status, "BadRequest", why);
                  },
              .date = [] { return pawl::http::http_date(pawl::base::system_clock().now()); }}} {
    next = ledger.lines().size() + 1;
}

void SecondProvider::Impl::serve(const Request& request, Responder respond) {
    // A Responder can't be copied, but callbacks must be.
    auto shared = std::make_shared<Responder>(std::move(respond));
    const Answer answer = [shared](Reply reply) { (*shared)(std::move(reply)); };
    const auto& head = request.head;
    if (head.path == "/livez") return answer({.body = "ok\n"});
    if (head.path == "/_test/bad_line") {
        options.losses.bad_line = std::strtod(request.body.c_str(), nullptr);
        return answer({.body = "ok\n"});
    }
    if (head.method == "GET" && head.path == "/payments")
        return list(pairs_of(head.query)["reference"], answer);
    if (head.method == "GET" && head.path.starts_with("/payments/"))
        return show(request, answer, true);
    if (head.method == "POST" && head.path == "/pay") {
        auto form = pairs_of(request.body);
        return order({form["reference"], number_of(form["amount"]), {}, "text"}, answer);
    }
    if (head.method != "POST" || head.path != "/payments")
        return answer(refusal(404, "NotFound", "There is no such resource."));
    boost::system::error_code error;
    const auto body = json::parse(request.body, error);
    const auto* fields = error ? nullptr : body.if_object();
    const auto* reference = fields != nullptr ? fields->if_contains("reference") : nullptr;
    const auto* amount = fields != nullptr ? fields->if_contains("amount") : nullptr;
    const std::string key{head.header("Idempotency-Key").value_or("")};
    if (reference == nullptr || !reference->is_string() || amount == nullptr || !amount->is_int64())
        return answer(refusal(400, "BadRequest", "reference or amount is missing"));
    if (key.empty() || key.size() > key_max)
        return answer(refusal(400, "BadKey", "Idempotency-Key has 1 to 32 characters"));
    order({std::string{reference->get_string()}, amount->get_int64(), key, "json"}, answer);
}

// What the line and the provider make of it.
void SecondProvider::Impl::order(const Order& order, Answer answer) {
    const auto fate = fate_of(options.losses, dice());
    switch (fate) {
        case Fate::lost:
            return answer(gateway_error());
        case Fate::cut:
            return carry_out(order, [answer = std::move(answer)](const Reply&) {
                answer(gateway_error());
            });
        case Fate::late:
            listener.after(
                std::chrono::milliseconds{static_cast<int>(late_by_ms * dice())},
                [this, order] { carry_out(order, [](const Reply&) {}); }
            );
            return answer(gateway_error());
        case Fate::unavailable:
            return answer(refusal(503, "Unavailable", "Try again later."));
        case Fate::decline:
        case Fate::decline_softly: {
            const std::lock_guard lock{mutex};
            // A payment that was made is not refused any more.
            if (order.key.empty() || !by_key.contains(order.key))
                return answer(refused(order, fate == Fate::decline_softly));
            break;
        }
        case Fate::serve:
            break;
    }
    carry_out(order, answer);
}

Reply SecondProvider::Impl::refused(const Order& order, bool softly) const {
    if (order.api == "text")
        return {.status = 402, .body = softly ? "SOFT issuer not reached" : "HARD stolen card"};
    return softly ? refusal(422, "SoftDecline", "The issuer was not reached.")
                  : refusal(422, "HardDecline", "The card is reported as stolen.");
}

void SecondProvider::Impl::carry_out(const Order& order, const Answer& answer) {
    std::unique_lock lock{mutex};
    if (const auto known = by_key.find(order.key); !order.key.empty() && known != by_key.end()) {
        const auto& payment = payments.at(known->second);
        const bool same =
            payment.order.reference == order.reference && payment.order.amount == order.amount;
        const auto reply = same ? state_of(payment, 201)
                                : refusal(409, "KeyReused", "The key belongs to another payment.");
        lock.unlock();
        return answer(reply);
    }
    const auto id = "pay_" + std::to_string(next++);
    payments[id] = {id, order};
    if (!order.key.empty()) by_key[order.key] = id;
    by_reference.emplace(order.reference, id);
    lock.unlock();
    const auto reply = [this, id, answer] {
        const std::lock_guard shown{mutex};
        answer(state_of(payments.at(id), 201));
    };
    if (order.api == "text" || dice() >= options.pending) return capture(id, reply);
    listener.after(capture_after, [this, id] { capture(id, [] {}); });
    reply();
}

void SecondProvider::Impl::capture(const std::string& id, std::function<void()> then) {
    std::string line;
    {
        const std::lock_guard lock{mutex};
        const auto& order = payments.at(id).order;
        line = json::serialize(json::object{
            {"id", id},
            {"reference", order.reference},
            {"amount", order.amount},
            {"key", order.key},
            {"api", order.api}});
    }
    ledger.append(std::move(line), [this, id, then = std::move(then)] {
        {
            const std::lock_guard lock{mutex};
            payments.at(id).captured = true;
        }
        then();
    });
}

Reply SecondProvider::Impl::state_of(const Payment& payment, int captured_status) const {
    if (payment.order.api == "text") return {.body = "OK " + payment.id};
    return json_reply(
        payment.captured ? captured_status : 202,
        {{"payment", payment.id},
         {"reference", payment.order.reference},
         {"amount", payment.order.amount},
         {"state", payment.captured ? "captured" : "pending"}}
    );
}

void SecondProvider::Impl::show(const Request& request, Answer answer, bool may_wait) {
    const auto id = request.head.path.substr(std::string_view{"/payments/"}.size());
    const auto wait = number_of(pairs_of(request.head.query)["wait_ms"]);
    std::optional<Reply> reply;
    {
        const std::lock_guard lock{mutex};
        const auto at = payments.find(id);
        if (at == payments.end())
            reply = refusal(404, "NotFound", "There is no such payment.");
        else if (at->second.captured || wait == 0 || !may_wait)
            reply = state_of(at->second, 200);
    }
    if (reply) return answer(std::move(*reply));
    listener.after(
        std::chrono::milliseconds{std::min<std::int64_t>(wait, 1'000)},
        [this, request, answer = std::move(answer)] { show(request, answer, false); }
    );
}

void SecondProvider::Impl::list(const std::string& reference, const Answer& answer) {
    json::array found;
    {
        const std::lock_guard lock{mutex};
        const auto [from, to] = by_reference.equal_range(reference);
        for (auto at = from; at != to; ++at) {
            const auto& payment = payments.at(at->second);
            found.push_back(json::object{
                {"payment", payment.id},
                {"amount", payment.order.amount},
                {"state", payment.captured ? "captured" : "pending"}});
        }
    }
    answer(json_reply(200, {{"payments", std::move(found)}}));
}

SecondProvider::SecondProvider(SecondProviderOptions options)
    : impl_{std::make_unique<Impl>(std::move(options))} {}
SecondProvider::~SecondProvider() {
    stop();
}
void SecondProvider::start() {
    impl_->listener.start();
}
std::uint16_t SecondProvider::port() const {
    return impl_->listener.port();
}
void SecondProvider::stop() {
    impl_->listener.stop(0ms);
}

}  // namespace rides
