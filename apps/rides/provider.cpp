#include "apps/rides/provider.hpp"

#include "apps/rides/mail_catcher.hpp"
#include "apps/rides/provider_bank.hpp"
#include "src/engine/clock.hpp"
#include "src/http/http_date.hpp"
#include "src/http/listener.hpp"
#include "src/json/form.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
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

std::string api_key_of(const pawl::RequestHead& head) {
    const auto given = head.header("Authorization").value_or("");
    constexpr std::string_view bearer = "Bearer ";
    return given.substr(0, bearer.size()) == bearer ? std::string{given.substr(bearer.size())}
                                                    : std::string{};
}

Reply reply_of(const BankAnswer& answer) {
    Reply reply{
        .status = answer.status,
        .headers = {{"Content-Type", "application/json"}},
        .body = answer.body};
    if (!answer.key.empty()) reply.headers.push_back({"Idempotency-Key", answer.key});
    if (answer.replayed) reply.headers.push_back({"Idempotent-Replayed", "true"});
    return reply;
}

}  // namespace

std::optional<std::string> ProviderOptions::problem() const {
    if (ledger.empty()) return "--ledger is empty: the file that holds what was charged";
    if (mails.empty()) return "--mails is empty: the file that holds the mails";
    if (forget_keys_after.count() < 0)
        return "--forget-keys-after-s is " + std::to_string(forget_keys_after.count()) +
               ": 0 or more";
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
                  .on_head = [](const pawl::RequestHead&) { return std::optional<Reply>{}; },
                  .on_request = [this](
                                    const Request& request, Responder respond
                                ) { serve(request, std::move(respond)); },
                  .on_error =
                      [](int status, std::string_view why) {
                          return reply_of(stripe_error(status, "invalid_request_error", "", why));
                      },
                  .date =
                      [] { return pawl::http::http_date(pawl::engine::system_clock().now()); }}} {
        faults = {.down = options.down, .decline = options.decline, .delay = options.delay};
    }

    void serve(const Request& request, Responder respond);
    void serve_test(const Request& request, Responder respond);
    void serve_api(const Request& request, Responder respond);
    void tell(BankAnswer answer, std::shared_ptr<Responder> respond);

    ProviderOptions options;
    Faults faults;  // On the listener's thread only, as the bank is.
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
    respond({.body = "{}"});
}

void Provider::Impl::serve_api(const Request& request, Responder respond) {
    const auto account = api_key_of(request.head);
    if (!account.starts_with("sk_"))
        return respond(reply_of(
            stripe_error(401, "invalid_request_error", "", "Give your API key as a bearer token.")
        ));
    if (faults.down)
        return respond(reply_of(stripe_error(503, "api_error", "", "The service is down.")));
    if (request.head.method == "GET") return respond(reply_of(bank.find(request.head.path)));
    const auto pairs = pawl::json::parse_pairs(request.body);
    if (!std::holds_alternative<std::vector<pawl::json::Pair>>(pairs))
        return respond(
            reply_of(stripe_error(400, "invalid_request_error", "", "The form is malformed."))
        );
    BankRequest asked{
        .path = request.head.path,
        .account = account,
        .key = std::string{request.head.header("Idempotency-Key").value_or("")},
        .form = {}};
    for (const auto& pair : std::get<0>(pairs)) asked.form[pair.name] = pair.value;
    auto shared = std::make_shared<Responder>(std::move(respond)
    );  // A Responder can't be copied, callbacks must.
    auto run = [this, asked, shared] {
        bank.execute(
            asked,
            faults,
            pawl::engine::system_clock().now(),
            [this, shared](BankAnswer answer) { tell(std::move(answer), shared); }
        );
    };
    const auto late =
        asked.form.contains("customer") && asked.form.at("customer").starts_with("cus_late");
    if (late) return listener.after(std::chrono::milliseconds{500}, run);
    run();
}

// On any thread, once the ledger has it.
void Provider::Impl::tell(BankAnswer answer, std::shared_ptr<Responder> respond) {
    auto wait = faults.delay + answer.delay;
    if (answer.never) wait = never;
    if (wait.count() == 0) return (*respond)(reply_of(answer));
    listener.after(wait, [respond = std::move(respond), answer = std::move(answer)] {
        (*respond)(reply_of(answer));
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
    impl_->listener.stop(std::chrono::milliseconds{0});
    impl_->mails.stop();
}

}  // namespace rides
