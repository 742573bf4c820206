#include "apps/standins/provider.hpp"

#include <pawl/bearer_token.hpp>

#include "apps/standins/mail_catcher.hpp"
#include "apps/standins/provider_bank.hpp"
#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/core/ascii.hpp"
#include "src/http/http_date.hpp"
#include "src/http/listener.hpp"
#include "src/json/form.hpp"
#include "src/json/hash.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <utility>

namespace rides {

namespace json = boost::json;
using pawl::http::Listener;
using pawl::http::Reply;
using pawl::http::Request;
using pawl::http::Responder;

namespace {

constexpr std::chrono::milliseconds never{
    60'000};  // "Never answered": longer than any client waits.

// A bearer token, or the user of basic authentication without a password, as in Stripe's examples
// for curl (`-u sk_test_...:`). Empty: neither.
std::string api_key_of(const pawl::RequestHead& head) {
    if (const auto token = pawl::bearer_token(head)) return std::string{*token};
    constexpr std::string_view scheme = "Basic ";
    const auto given = head.header("Authorization").value_or("");
    if (!pawl::core::same_without_case(given.substr(0, scheme.size()), scheme)) return {};
    const auto user = pawl::json::from_base64(given.substr(scheme.size())).value_or("");
    return user.substr(0, user.find(':'));
}

// The headers that Stripe's own clients use: the request id for support, the API version, and
// whether a repeat may end differently.
Reply reply_of(
    const BankAnswer& answer, const std::string& id = {}, std::string_view version = {}
) {
    Reply reply{
        .status = answer.status,
        .headers = {{"Content-Type", "application/json"}},
        .body = answer.body};
    const auto add = [&reply](const char* name, std::string_view value) {
        if (!value.empty()) reply.headers.push_back({name, std::string{value}});
    };
    add("Request-Id", id);
    add("Stripe-Version", version);
    add("Idempotency-Key", answer.key);
    if (answer.replayed) add("Idempotent-Replayed", "true");
    add("Original-Request", answer.original);
    if (answer.status == 401) add("WWW-Authenticate", "Bearer realm=\"Stripe\"");
    if (answer.status == 409) add("Stripe-Should-Retry", "true");
    // It is stored, and a repeat would get it again.
    if (answer.status == 500) add("Stripe-Should-Retry", "false");
    return reply;
}

}  // namespace

std::optional<std::string> ProviderOptions::problem() const {
    if (ledger.empty()) return "--ledger is empty: the file that holds what was charged";
    if (mails.empty()) return "--mails is empty: the file that holds the mails";
    if (forget_keys_after.count() < 0)
        return "--forget-keys-after-s is " + std::to_string(forget_keys_after.count()) +
               ": 0 or more";
    if (!events.url.empty() && events.secrets.empty())
        return "--webhook-secret is missing: what signs the events";
    if (delay.count() < 0 || delay.count() > 60'000) return "--delay is out of 0 to 60000 ms";
    return std::nullopt;
}

struct Provider::Impl {
    explicit Impl(ProviderOptions given)
        : options{std::move(given)},
          bank{
              {options.ledger,
               options.ledger_sync ? Ledger::Sync::yes : Ledger::Sync::no,
               options.first_id},
              options.forget_keys_after},
          mails{options.smtp, options.mails},
          listener{
              {.listen = options.listen},
              Listener::Handlers{
                  .on_head =
                      Listener::accept_all([this](const Request& request, Responder respond) {
                          serve(request, std::move(respond));
                      }),
                  .on_error =
                      [](int status, std::string_view why, const pawl::RequestHead&) {
                          return reply_of(stripe_error(
                              {.status = status, .type = "invalid_request_error", .message = why}
                          ));
                      },
                  .date = [] { return pawl::http::http_date(pawl::base::system_clock().now()); }}} {
        faults = {.down = options.down, .decline = options.decline, .delay = options.delay};
        event_faults = EventFaults::of(options.event_faults);
        if (!options.events.url.empty()) events.emplace(options.events);
    }

    void serve(const Request& request, Responder respond);
    void serve_test(const Request& request, Responder respond);
    void serve_api(const Request& request, Responder respond);
    void run_by_fate(
        const BankRequest& asked,
        const std::shared_ptr<Responder>& respond,
        const std::function<void(const Faults&)>& run
    );
    void report(
        const BankRequest& asked,
        const BankAnswer& answer,
        const EventFaults& how,
        std::function<void()> tell
    );
    void tell(Reply reply, const BankAnswer& answer, std::shared_ptr<Responder> respond);

    ProviderOptions options;
    Faults faults;  // Used on the listener's thread only, like the bank.
    EventFaults event_faults;
    std::optional<EventSender> events;  // Outlives the bank, whose thread uses it.
    Bank bank;
    MailCatcher mails;
    Listener listener;
};

void Provider::Impl::serve(const Request& request, Responder respond) {
    if (request.head.path == "/livez") return respond({.body = "ok\n"});
    if (request.head.path.starts_with("/_test/")) return serve_test(request, std::move(respond));
    serve_api(request, std::move(respond));
}

void Provider::Impl::serve_test(const Request& request, Responder respond) {
    if (request.head.path == "/_test/ledger") return respond({.body = bank.summary()});
    boost::system::error_code error;
    const auto wanted = json::parse(request.body, error);
    if (error || !wanted.is_object()) return respond({.status = 400, .body = "{}"});
    const auto& object = wanted.as_object();
    auto flag = [&](const char* name, bool& to) {
        if (const auto* value = object.if_contains(name))
            to = value->is_bool() && value->get_bool();
    };
    flag("down", faults.down);
    flag("decline", faults.decline);
    if (const auto* delay = object.if_contains("delay_ms"); delay != nullptr && delay->is_int64())
        faults.delay = std::chrono::milliseconds{delay->get_int64()};
    if (const auto* life = object.if_contains("hold_lifetime_ms");
        life != nullptr && life->is_int64())
        faults.hold_lifetime = std::chrono::milliseconds{life->get_int64()};
    if (const auto* words = object.if_contains("webhooks"); words != nullptr && words->is_string())
        event_faults = EventFaults::of(words->get_string());
    respond({.body = "{}"});
}

void Provider::Impl::serve_api(const Request& request, Responder respond) {
    const auto account = api_key_of(request.head);
    const auto id = "req_" + pawl::base::random_hex(pawl::base::system_random(), 14);
    const std::string version{request.head.header("Stripe-Version").value_or("2025-06-30.basil")};
    const auto refuse = [&](const StripeProblem& why) {
        respond(reply_of(stripe_error(why), id, version));
    };
    if (!account.starts_with("sk_"))
        return refuse(
            {.status = 401,
             .type = "invalid_request_error",
             .message =
                 account.empty() ? "You did not provide an API key." : "Invalid API Key provided."}
        );
    if (faults.down)
        return refuse({.status = 503, .type = "api_error", .message = "The service is down."});
    if (request.head.method == "GET" && request.head.path == "/v1/charges") {
        std::map<std::string, std::string> query;
        const auto pairs = pawl::json::parse_pairs(request.head.query);
        if (const auto* found = std::get_if<std::vector<pawl::json::Pair>>(&pairs))
            for (const auto& pair : *found) query[pair.name] = pair.value;
        return respond(reply_of(bank.list_charges(query), id, version));
    }
    if (request.head.method == "GET")
        return respond(reply_of(bank.find(request.head.path), id, version));
    const auto pairs = pawl::json::parse_pairs(request.body);
    if (!std::holds_alternative<std::vector<pawl::json::Pair>>(pairs))
        return refuse(
            {.status = 400, .type = "invalid_request_error", .message = "The form is malformed."}
        );
    BankRequest asked{
        .path = request.head.path,
        .account = account,
        .key = std::string{request.head.header("Idempotency-Key").value_or("")},
        .id = id,
        .form = {},
        .traceparent = std::string{request.head.header("traceparent").value_or("")}};
    for (const auto& pair : std::get<0>(pairs)) asked.form[pair.name] = pair.value;
    auto shared = std::make_shared<Responder>(std::move(respond)
    );  // A Responder can't be copied, but callbacks must be.
    auto run = [this, asked, shared, version](const Faults& with) {
        bank.execute(
            asked,
            with,
            pawl::base::system_clock().now(),
            [this, shared, version, asked, how = event_faults](const BankAnswer& answer) {
                report(asked, answer, how, [=, this] {
                    tell(reply_of(answer, asked.id, version), answer, shared);
                });
            }
        );
    };
    const auto late =
        asked.form.contains("customer") && asked.form.at("customer").starts_with("cus_late");
    if (late) return listener.after(std::chrono::milliseconds{500}, [this, run] { run(faults); });
    if (asked.path == "/v1/charges" && options.losses.any()) return run_by_fate(asked, shared, run);
    run(faults);
}

// On a bad line, an answer is that of a gateway.
void Provider::Impl::run_by_fate(
    const BankRequest& asked,
    const std::shared_ptr<Responder>& respond,
    const std::function<void(const Faults&)>& run
) {
    auto& random = pawl::base::system_random();
    const Reply gateway_error{
        .status = 504,
        .headers = {{"Content-Type", "text/html"}},
        .body = "<html><h1>504 Gateway Time-out</h1></html>"};
    const auto execute_silently = [this, asked] {
        bank.execute(asked, faults, pawl::base::system_clock().now(), [](const BankAnswer&) {});
    };
    auto with = faults;
    switch (fate_of(options.losses, random.dice())) {
        case Fate::lost:
            return (*respond)(gateway_error);
        case Fate::cut:
            execute_silently();
            return (*respond)(gateway_error);
        case Fate::late:
            listener.after(
                std::chrono::milliseconds{static_cast<int>(late_by_ms * random.dice())},
                execute_silently
            );
            return (*respond)(gateway_error);
        case Fate::unavailable:
            return (*respond)(reply_of(stripe_error(
                {.status = 503, .type = "api_error", .message = "The service is down."}
            )));
        case Fate::decline_softly:
            with.decline_code = "try_again_later";
            [[fallthrough]];
        case Fate::decline:
            with.decline = true;
            break;
        case Fate::serve:
            break;
    }
    run(with);
}

// Sends the event of what was booked, before or after the request's own answer.
void Provider::Impl::report(
    const BankRequest& asked,
    const BankAnswer& answer,
    const EventFaults& how,
    std::function<void()> tell
) {
    if (!events || answer.event.empty()) return tell();
    const BookedEvent event{
        .type = answer.event,
        .object = bank.find("/v1/charges/" + answer.charge).body,
        .request = asked.id,
        .key = asked.key,
        .at = pawl::base::system_clock().now()};
    if (how.early) return events->send(event, how, std::move(tell));
    tell();
    events->send(event, how, {});
}

// On any thread, after the ledger has stored it.
void Provider::Impl::tell(
    Reply reply, const BankAnswer& answer, std::shared_ptr<Responder> respond
) {
    auto wait = faults.delay + answer.delay;
    if (answer.never) wait = never;
    if (wait.count() == 0) return (*respond)(std::move(reply));
    listener.after(wait, [respond = std::move(respond), reply = std::move(reply)] {
        (*respond)(reply);
    });
}

Provider::Provider(ProviderOptions options) : impl_{std::make_unique<Impl>(std::move(options))} {}
Provider::~Provider() {
    stop();
}

void Provider::start() {
    impl_->mails.start();
    impl_->listener.start();
}

std::uint16_t Provider::http_port() const {
    return impl_->listener.port();
}
std::uint16_t Provider::smtp_port() const {
    return impl_->mails.port();
}

void Provider::stop() {
    if (impl_->events) impl_->events->stop();
    impl_->listener.stop(std::chrono::milliseconds{0});
    impl_->mails.stop();
}

}  // namespace rides
