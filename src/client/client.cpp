#include <pawl/client.hpp>

#include "src/base/clock.hpp"
#include "src/base/in_transaction.hpp"
#include "src/base/options.hpp"
#include "src/base/random.hpp"
#include "src/client/callbacks.hpp"
#include "src/client/retrying.hpp"
#include "src/core/assert.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace pawl {

namespace {

core::Jitter jitter_of(Backoff backoff) {
    switch (backoff) {
        case Backoff::full:
            return core::Jitter::full;
        case Backoff::stripe:
            return core::Jitter::stripe;
        case Backoff::decorrelated:
            break;
    }
    return core::Jitter::decorrelated;
}

core::RetryRule retry_of(const ClientOptions& options) {
    core::RetryRule rule;
    rule.jitter = jitter_of(options.backoff);
    rule.first = options.wait_first;
    rule.longest = options.wait_max;
    rule.shortest = std::min(rule.shortest, options.wait_first);
    rule.tries_max = options.tries_max;
    rule.deadline = options.deadline;
    rule.retry_after_max = options.retry_after_max;
    return rule;
}

core::BudgetRule budget_of(const ClientOptions& options) {
    return {options.budget_each_success, options.budget_per_s, options.budget_burst};
}

core::BreakerRule breaker_of(const ClientOptions& options) {
    return {
        .failures_max = options.breaker_failures,
        .first = options.breaker_first,
        .longest = options.breaker_wait_max,
        // At least a try and a first wait, which the rule requires.
        .probe_max = std::max(options.timeout, options.breaker_first) + options.breaker_first};
}

client::Retrying::Limits limits_of(const ClientOptions& options) {
    return {retry_of(options), budget_of(options), breaker_of(options), options.on_try};
}

bool is_whole_url(std::string_view target) {
    return target.starts_with("http://") || target.starts_with("https://");
}

// RFC 9110, 9.2.2.
Repeat repeat_without_key(std::string_view method) {
    for (const auto* each : {"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})
        if (method == each) return Repeat::safe;
    return Repeat::never;
}

}  // namespace

std::optional<std::string> ClientOptions::problem() const {
    using namespace std::chrono_literals;
    // A URL with a user name may contain a password, and must not be logged.
    if (!url.empty() && !is_whole_url(url))
        return "url is " + (url.find('@') == url.npos ? url : "no address of http") +
               ": http:// or https://, and a host";
    if (http::first_header(headers, "Idempotency-Key"))
        return "headers has an Idempotency-Key: a key is given as a ClientKey";
    const auto ms = [](std::chrono::milliseconds m) { return std::to_string(m.count()); };
    for (const auto& [name, value, least] :
         {std::tuple{"connect_timeout", connect_timeout, 1ms},
          {"timeout", timeout, 1ms},
          {"deadline", deadline, 1ms},
          {"wait_first", wait_first, 1ms},
          {"wait_max", wait_max, wait_first},
          {"retry_after_max", retry_after_max, 0ms},
          {"breaker_first", breaker_first, 1ms},
          {"breaker_wait_max", breaker_wait_max, breaker_first}})
        if (value < least || value > 24h)
            return std::string{name} + " is " + ms(value) + " ms: " + ms(least) + " to 86400000";
    if (answer_max < 1) return "answer_max is 0: at least 1 byte";
    if (breaker_failures < 0 || breaker_failures > 1'000'000)
        return base::wrong_option(
            "breaker_failures", breaker_failures, "1 to 1000000, or 0 for never"
        );
    if (auto why = retry_of(*this).problem()) return why;
    if (auto why = budget_of(*this).problem()) return "budget_" + *why;
    if (auto why = breaker_of(*this).problem()) return "breaker: " + *why;
    return base::out_of("connections_max", connections_max, 1, 100'000);
}

std::optional<std::string_view> Answered::header(std::string_view name) const {
    return http::first_header(headers, name);
}

struct Client::Impl {
    explicit Impl(ClientOptions given)
        : options{base::checked(std::move(given), "pawl::ClientOptions")},
          transfers{std::make_unique<http::Transfers>(options.connections_max)},
          retrying{
              client::Retrying::over(*transfers, base::system_clock(), base::system_random()),
              limits_of(options)},
          callbacks{retrying, *transfers, base::system_clock()} {}
    ~Impl() {
        callbacks.stop();
        transfers.reset();  // Ends running tries, whose callbacks still exist.
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    // Every way to send begins here.
    http::OutgoingRequest outgoing(const ClientRequest& request, const std::string* key) const {
        PAWL_ASSERT(!base::in_transaction());
        http::OutgoingRequest out;
        out.method = request.method;
        out.url = url_of(request.target);
        // Credentials go only to their own server.
        if (options.url.empty() || client::server_of(out.url) == client::server_of(options.url))
            out.headers = options.headers;
        out.headers.insert(out.headers.end(), request.headers.begin(), request.headers.end());
        if (http::first_header(out.headers, "Idempotency-Key"))
            throw std::invalid_argument{
                "pawl: an Idempotency-Key among the headers: a key is given as a ClientKey"};
        if (!request.body.empty() && !http::first_header(out.headers, "Content-Type"))
            out.headers.push_back({"Content-Type", request.content_type});
        if (key != nullptr) out.headers.push_back({"Idempotency-Key", *key});
        out.body = request.body;
        out.connect_timeout = options.connect_timeout;
        out.timeout = options.timeout;
        out.answer_max = options.answer_max;
        out.fresh_connection =
            key == nullptr && repeat_without_key(request.method) == Repeat::never;
        out.public_only = options.public_addresses_only;
        return out;
    }

    // Otherwise "@elsewhere/" or ".elsewhere/" would address another server.
    std::string url_of(const std::string& target) const {
        if (is_whole_url(target)) return target;
        if (!options.url.empty() && !target.empty() && target[0] != '/' && target[0] != '?')
            throw std::invalid_argument{
                "pawl: the target of a request is \"" + target +
                "\": a whole URL, or what follows the client's url and begins with / or ?"};
        return options.url + target;
    }

    ClientOptions options;
    std::unique_ptr<http::Transfers> transfers;
    client::Retrying retrying;
    client::Callbacks callbacks;
};

Client::Client(ClientOptions options) : impl_{std::make_unique<Impl>(std::move(options))} {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

const ClientOptions& Client::options() const {
    return impl_->options;
}

ClientResult Client::perform(
    const ClientRequest& request, const ClientKey& key, std::stop_token stop
) {
    return impl_->retrying.perform(
        impl_->outgoing(request, &key.text()), Repeat::safe_with_key, stop
    );
}

ClientResult Client::send_once(const ClientRequest& request, std::stop_token stop) {
    return impl_->retrying.perform(
        impl_->outgoing(request, nullptr), repeat_without_key(request.method), stop
    );
}

ClientResult Client::get(std::string target, std::stop_token stop) {
    return send_once({.method = "GET", .target = std::move(target)}, std::move(stop));
}

ClientResult Client::put(std::string target, std::string body, std::stop_token stop) {
    return send_once(
        {.method = "PUT", .target = std::move(target), .body = std::move(body)}, std::move(stop)
    );
}

ClientResult Client::del(std::string target, std::stop_token stop) {
    return send_once({.method = "DELETE", .target = std::move(target)}, std::move(stop));
}

ClientResult Client::post(
    std::string target, std::string body, const ClientKey& key, std::stop_token stop
) {
    return perform(
        {.method = "POST", .target = std::move(target), .body = std::move(body)},
        key,
        std::move(stop)
    );
}

namespace {

// The provider's spans hang under the call's, unless the application sends its own headers.
http::OutgoingRequest of_call(const Call& call, http::OutgoingRequest out) {
    out.may_send = call.may_send();
    if (call.traceparent().empty() || http::first_header(out.headers, "traceparent")) return out;
    out.headers.push_back({"traceparent", call.traceparent()});
    if (!call.tracestate().empty()) out.headers.push_back({"tracestate", call.tracestate()});
    return out;
}

// The step of a plain Call may be one that is never repeated.
http::OutgoingRequest on_fresh_connection(http::OutgoingRequest out) {
    out.fresh_connection = true;
    return out;
}

// For the key's time line.
ClientResult noted(const Call& call, ClientResult result) {
    if (const auto* answered = std::get_if<Answered>(&result)) {
        auto id = answered->header("Request-Id");
        if (!id) id = answered->header("X-Request-Id");
        call.note_response({answered->status, std::string{id.value_or("")}});
    }
    return result;
}

}  // namespace

ClientResult Client::perform(const KeyedCall& call, const ClientRequest& request) {
    call.assert_open();
    return noted(
        call,
        impl_->retrying.try_once(
            of_call(call, impl_->outgoing(request, &call.key().text)), call.stop()
        )
    );
}

ClientResult Client::perform(const Call& call, const ClientRequest& request, const ClientKey& key) {
    call.assert_open();
    return noted(
        call,
        impl_->retrying.try_once(
            of_call(call, on_fresh_connection(impl_->outgoing(request, &key.text()))), call.stop()
        )
    );
}

ClientResult Client::send_once(const Call& call, const ClientRequest& request) {
    call.assert_open();
    return noted(
        call,
        impl_->retrying.try_once(
            of_call(call, on_fresh_connection(impl_->outgoing(request, nullptr))), call.stop()
        )
    );
}

void Client::start(
    const ClientRequest& request, const ClientKey& key, std::function<void(ClientResult)> done
) {
    impl_->callbacks.start(
        impl_->outgoing(request, &key.text()), Repeat::safe_with_key, std::move(done)
    );
}

}  // namespace pawl
