#include <pawl/http.hpp>

#include "src/base/error_text.hpp"
#include "src/base/log.hpp"
#include "src/base/options.hpp"
#include "src/base/random.hpp"
#include "src/core/assert.hpp"
#include "src/core/fault.hpp"
#include "src/engine/engine.hpp"
#include "src/engine/failure.hpp"
#include "src/http/access_log.hpp"
#include "src/http/forms.hpp"
#include "src/http/http_date.hpp"
#include "src/http/http_options.hpp"
#include "src/http/key_header.hpp"
#include "src/http/key_progress_query.hpp"
#include "src/http/listener.hpp"
#include "src/http/negotiation.hpp"
#include "src/http/openapi.hpp"
#include "src/http/preconditions.hpp"
#include "src/http/problem.hpp"
#include "src/http/problem_page.hpp"
#include "src/http/quotas.hpp"
#include "src/http/reply_check.hpp"
#include "src/http/response_writer.hpp"
#include "src/http/routes.hpp"
#include "src/json/fingerprint.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace pawl {

namespace {

using http::Reply;
using http::Request;
using http::Responder;

using Writer = std::shared_ptr<http::ResponseWriter>;

struct Target {
    const detail::ErasedOperation* operation{};  // Exactly one of the first three is set.
    std::optional<HttpServer::ErasedQuery> query{};
    std::function<void(const Request&, const Writer&)> open{};  // Without credentials.
    std::optional<std::size_t> open_max{};  // Bytes of its body; nullopt: public_body_max.
    std::string_view name() const { return query ? query->name : operation->name; }
};

// What is known of a request after its body has come.
struct ParsedRequest {
    Request request;
    Principal principal;
    http::Routes<Target>::Match match;
    http::FormExtras form{};
    std::string canonical_json{};  // Of the body.
};

bool is_livez(const RequestHead& head) {
    return head.path == "/livez" && (head.method == "GET" || head.method == "HEAD");
}

std::string_view path_as_sent(const RequestHead& head) {
    return std::string_view{head.target}.substr(0, head.target.find('?'));
}

}  // namespace

struct HttpServer::Impl : std::enable_shared_from_this<HttpServer::Impl> {
    Impl(Service& service, HttpOptions options_)
        : engine{service.engine()},
          options{base::checked(std::move(options_), "pawl::HttpOptions")},
          access{options.access_log},
          quotas{http::quota_rule(options, engine.options().calls_max)} {
        listener = std::make_unique<http::Listener>(
            http::listener_options(options, engine.options().calls_max, log::warn),
            http::Listener::Handlers{
                .on_head = [this](const RequestHead& head) { return on_head(head); },
                .on_error = [this](
                                int status, std::string_view why, const RequestHead& head
                            ) { return on_error(status, why, head); },
                .date = [this] { return http::http_date(engine.clock().now()); },
                .on_warning = log::warn}
        );
    }

    std::optional<Principal> principal_of(const RequestHead& head) const {
        if (options.authenticate) return options.authenticate(head);
        return Principal{"", "anonymous"};
    }

    http::Listener::Decision on_head(const RequestHead& head);
    http::Listener::Decision decide(const RequestHead& head);
    template <class Serve>
    http::Listener::Accepted accepted(std::size_t body_max, Serve serve);
    Reply on_error(int status, std::string_view why, const RequestHead& head);
    bool admit(const Principal& principal, const Writer& out);
    void serve(ParsedRequest parsed, const Writer& out);
    std::optional<Reply> read_fields(ParsedRequest& parsed, detail::RequestFields& fields);
    bool from_own_page(const ParsedRequest& parsed) const;
    void serve_query(
        const ParsedRequest& parsed, const detail::ErasedValue& request, const Writer& out
    );
    std::optional<Reply> key_for(const ParsedRequest& parsed, std::string& key);
    void serve_operation(
        ParsedRequest parsed, std::string key, detail::ErasedValue request, const Writer& out
    );
    void fingerprint(const ParsedRequest& parsed, engine::KeyedRequest& keyed) const;

    engine::Engine& engine;
    HttpOptions options;
    http::AccessLog access;
    http::Quotas quotas;
    http::Routes<Target> routes;
    std::unique_ptr<http::Listener> listener;
};

Reply HttpServer::Impl::on_error(int status, std::string_view why, const RequestHead& head) {
    auto reply = http::refusal(status, why);
    http::log_refusal(access, head, reply, http::problem_type(reply));
    return reply;
}

http::Listener::Decision HttpServer::Impl::on_head(const RequestHead& head) {
    http::Listener::Decision decision;
    try {
        decision = decide(head);
    } catch (const std::exception& thrown) {
        decision = http::internal_error(&thrown);
    } catch (...) {
        decision = http::internal_error(nullptr);
    }
    auto* refused = std::get_if<Reply>(&decision);
    if (refused == nullptr) return decision;
    const auto problem = access.on() ? http::problem_type(*refused) : std::string{};
    if (options.browser.present && http::asks_for_page(head))
        *refused = http::shown(
            options.browser,
            {.head = head,
             .status = refused->status,
             .headers = refused->headers,
             .body = refused->body},
            *refused
        );
    *refused = http::sendable(std::move(*refused), {});
    http::log_refusal(access, head, *refused, problem);
    return decision;
}

// The one place that looks for the route and checks the credentials, which come first: an unknown
// client learns no path. Requests without credentials are small; a GET of them has no body.
http::Listener::Decision HttpServer::Impl::decide(const RequestHead& head) {
    const bool reads = head.method == "GET" || head.method == "HEAD";
    const std::size_t public_body_max = reads ? 0 : options.limits.public_body_max;
    if (is_livez(head))
        return accepted(public_body_max, [](const Request&, const Writer& out) {
            (*out)({.status = 200, .headers = {{"Content-Type", "text/plain"}}, .body = "ok\n"});
        });
    auto found = routes.find(head.method, path_as_sent(head));
    auto* match = std::get_if<http::Routes<Target>::Match>(&found);
    if (match != nullptr && match->target->open)
        return accepted(
            std::min(match->target->open_max.value_or(public_body_max), options.limits.body_max),
            [match = std::move(*match)](const Request& request, const Writer& out) {
                out->set_route(*match.pattern);
                match.target->open(request, out);
            }
        );
    if (auto page = http::problem_page(head))
        return accepted(0, [page = std::move(*page)](const Request&, const Writer& out) {
            (*out)(page);
        });
    auto principal = principal_of(head);
    if (!principal) return http::unauthorized(options.realm);
    if (match != nullptr)
        return accepted(
            options.limits.body_max,
            [this,
             principal = std::move(*principal),
             match = std::move(*match)](Request request, const Writer& out) mutable {
                out->set_principal(principal);
                out->set_route(*match.pattern);
                out->set_operation(match.target->name());
                if (!admit(principal, out)) return;
                serve({std::move(request), std::move(principal), std::move(match), {}, {}}, out);
            }
        );
    if (const auto* other = std::get_if<http::Routes<Target>::MethodNotAllowed>(&found)) {
        auto reply = http::refusal(405, "This path supports: " + other->allow + ".");
        reply.headers.push_back({"Allow", other->allow});
        return reply;
    }
    return http::refusal(404, "No route has this path.");
}

template <class Serve>
http::Listener::Accepted HttpServer::Impl::accepted(std::size_t body_max, Serve serve) {
    return {
        [this, serve = std::move(serve)](Request request, Responder respond) mutable {
            const auto out = std::make_shared<http::ResponseWriter>(
                http::ResponseWriter::Parts{shared_from_this(), access, engine, options.browser},
                std::move(respond),
                request.head
            );
            try {
                serve(std::move(request), out);
            } catch (const std::exception& thrown) {
                (*out)(http::internal_error(&thrown));
            } catch (...) {
                (*out)(http::internal_error(nullptr));
            }
        },
        body_max};
}

// Applies the tenant's quota before any work that costs the others: parsing, the store, a call.
// False: the refusal was sent.
bool HttpServer::Impl::admit(const Principal& principal, const Writer& out) {
    // The prefixes keep an account and a tenant of the same name apart.
    const auto who =
        principal.tenant.empty() ? "account " + principal.account : "tenant " + principal.tenant;
    // Without a tenant, the account is counted as its own tenant, with no account share.
    const auto& account = principal.tenant.empty() ? principal.tenant : principal.account;
    auto entered = quotas.enter(who, account, engine.clock().steady());
    if (auto* place = std::get_if<http::Quotas::Place>(&entered)) {
        out->set_place(std::move(*place));
        return true;
    }
    const auto& refused = std::get<http::Quotas::Rejection>(entered);
    const auto limit = http::limit_name(refused.why.limit);
    const bool by_account = refused.why.limit == core::OverQuota::Limit::account_in_flight;
    if (refused.refused_since_log > 0)
        log::limited_warning(
            "quota_exceeded",
            {},
            {{"code", "PAWL0013"},
             {"who", by_account ? "account " + account + " of " + who : who},
             {"limit", limit},
             {"refused", refused.refused_since_log}},
            log::burst_of_names
        );
    out->set_over_quota(limit);
    (*out)(http::quota_exceeded(refused.why));
    return false;
}

std::optional<Reply> HttpServer::Impl::read_fields(
    ParsedRequest& parsed, detail::RequestFields& fields
) {
    auto& [head, body] = parsed.request;
    for (const auto& [name, value] : parsed.match.parameters)
        if (auto problem = fields.add_path(name, value)) return http::invalid(*problem);
    if (!head.query.empty())
        if (auto problem = fields.add_query(head.query)) return http::invalid(*problem);
    const auto& to = *parsed.match.target;
    for (const auto name : to.query ? to.query->headers : to.operation->headers)
        if (const auto value = head.header(name)) fields.add_header(name, *value);
    if (head.count("Content-Type") > 1)
        return http::refusal(400, "The request has more than one Content-Type.");
    const auto coding = head.header("Content-Encoding").value_or("identity");
    if (!coding.empty() && coding != "identity")
        return http::refusal(415, "A body with a Content-Encoding is not supported.");
    const auto type = head.header("Content-Type").value_or("");
    switch (json::body_kind(type, body)) {
        case json::BodyKind::none:
            return std::nullopt;
        case json::BodyKind::json:
            if (auto problem = fields.add_json(body)) return http::invalid(*problem);
            return std::nullopt;
        case json::BodyKind::form:
            return http::read_form(options.browser, body, fields, parsed.form);
        case json::BodyKind::other:
            break;
    }
    return http::refusal(415, "Send application/json or application/x-www-form-urlencoded.");
}

void HttpServer::Impl::serve(ParsedRequest parsed, const Writer& out) {
    if (parsed.match.target->operation != nullptr)
        if (auto refused = http::refuse_preconditions(parsed.request.head))
            return (*out)(std::move(*refused));
    detail::RequestFields fields;
    if (auto refused = read_fields(parsed, fields)) return (*out)(std::move(*refused));
    const Target& target = *parsed.match.target;
    if (out->shows()) out->set_form(http::form_of(fields));
    if (target.operation != nullptr && !from_own_page(parsed)) {
        // So that the page can link to an earlier request with this key, which may be in progress.
        const auto given = http::key_of(parsed.form.key.value_or(""));
        if (const auto* known = std::get_if<std::string>(&given)) out->set_key(*known);
        return (*out)(http::form_refused());
    }
    // The key is checked before the fields: without a key a repeat is not safe, whatever the fields
    // are.
    std::string key;
    if (target.operation != nullptr)
        if (auto refused = key_for(parsed, key)) return (*out)(std::move(*refused));
    out->set_key(key);
    auto request = target.query ? target.query->request(fields) : target.operation->request(fields);
    if (auto* problem = std::get_if<DecodeProblem>(&request))
        return (*out)(http::invalid(*problem));
    auto& decoded = std::get<detail::ErasedValue>(request);
    if (target.query) return serve_query(parsed, decoded, out);
    if (target.operation->settings.key != KeyRule::none)
        parsed.canonical_json = fields.canonical_json();
    serve_operation(std::move(parsed), std::move(key), std::move(decoded), out);
}

bool HttpServer::Impl::from_own_page(const ParsedRequest& parsed) const {
    return !options.browser.from_own_page ||
           options.browser.from_own_page(parsed.request.head, parsed.form.token);
}

std::optional<Reply> HttpServer::Impl::key_for(const ParsedRequest& parsed, std::string& key) {
    const auto rule = parsed.match.target->operation->settings.key;
    if (rule == KeyRule::none) return std::nullopt;
    auto given = http::key_header(parsed.request.head);
    if (parsed.form.key) {
        if (!std::holds_alternative<http::NoKey>(given))
            return http::problem_reply(
                {.type = "key-invalid", .detail = "The key is in a header and in a form field."}
            );
        given = http::key_of(*parsed.form.key);
    }
    if (auto* problem = std::get_if<http::KeyProblem>(&given))
        return http::problem_reply({.type = "key-invalid", .detail = problem->why});
    if (auto* text = std::get_if<std::string>(&given)) {
        key = std::move(*text);
        return std::nullopt;
    }
    if (rule == KeyRule::required)
        return http::problem_reply(
            {.type = "key-missing",
             .detail = "Send the same key with every repeat of one request, and a new one with "
                       "every new request."}
        );
    key = engine.generated_key();
    return std::nullopt;
}

void HttpServer::Impl::serve_query(
    const ParsedRequest& parsed, const detail::ErasedValue& request, const Writer& out
) {
    auto answer = std::make_shared<Response>();  // Shared by the two halves of one read.
    const auto* query = &*parsed.match.target->query;
    engine.store().read(store::work(
        [this,
         query,
         request,
         answer,
         principal = parsed.principal,
         origin = parsed.request.head.client_address](store::Session& session) {
            *answer = engine.run_query(session, query->name, "", [&](Snapshot& read) {
                return query->answer(query->query.get(), read, principal, origin, request.get());
            });
        },
        [this, answer, out, query](const std::exception_ptr& failed) {
            if (failed) {
                auto rejection = engine::failure_of(failed).rejection;
                log::limited_warning(
                    "query_refused",
                    std::string{query->name} + ": " + base::error_kind(rejection.detail),
                    {{"query", query->name}, {"detail", rejection.detail}}
                );
                return (*out)(http::reply_to(std::move(rejection), options.key_reused_status));
            }
            (*out)(http::reply_to(
                engine::StoredResponse{std::move(*answer), false, {}}, options.key_reused_status
            ));
        }
    ));
}

void HttpServer::Impl::serve_operation(
    ParsedRequest parsed, std::string key, detail::ErasedValue request, const Writer& out
) {
    const auto& operation = *parsed.match.target->operation;
    if (out->logs() && operation.settings.key != KeyRule::none)
        out->set_key_hash(
            engine::key_hash(engine::key_identity(operation.settings.scope, parsed.principal, key))
        );
    auto on_answer = [out, status = options.key_reused_status](engine::Answer answer) {
        PAWL_FAULT("http.response.before");
        (*out)(http::reply_to(std::move(answer), status));
    };
    if (operation.settings.key == KeyRule::none)
        return engine.handle_unkeyed(
            operation,
            {0, std::move(parsed.principal), std::move(parsed.request.head.client_address)},
            request,
            std::move(on_answer),
            out->trace()
        );
    engine::KeyedRequest keyed;
    keyed.trace = out->trace();
    keyed.operation = &operation;
    keyed.key = std::move(key);
    keyed.method = std::move(parsed.request.head.method);
    keyed.path = std::move(parsed.request.head.path);
    keyed.origin = std::move(parsed.request.head.client_address);
    keyed.request_id = out->request_id();
    keyed.request = std::move(request);
    fingerprint(parsed, keyed);
    keyed.principal = std::move(parsed.principal);
    engine.handle(std::move(keyed), std::move(on_answer));
}

// Of the canonical form of the request. Its parts were parsed without a problem before, so none is
// possible here.
void HttpServer::Impl::fingerprint(const ParsedRequest& parsed, engine::KeyedRequest& keyed) const {
    std::vector<json::Pair> path;
    for (const auto& [name, value] : parsed.match.parameters) path.push_back({name, value});
    auto text = json::fingerprint_text(
        {.method = keyed.method,
         .route = *parsed.match.pattern,
         .path_parameters = path,
         .query = parsed.request.head.query,
         .content_type = parsed.request.head.header("Content-Type").value_or(""),
         .body = parsed.request.body,
         .canonical_json = parsed.canonical_json}
    );
    PAWL_ASSERT(std::holds_alternative<std::string>(text));
    set_fingerprint(keyed, std::get<std::string>(std::move(text)), engine.installation());
}

HttpServer::HttpServer(Service& service, HttpOptions options)
    : impl_{std::make_shared<Impl>(service, std::move(options))} {
    get("/idempotency-keys/{key}", http::KeyProgressQuery{});
}

// The listener's threads end here, and not on the thread of a request that ends later.
HttpServer::~HttpServer() {
    impl_->listener.reset();
    impl_->access.flush();  // A request in flight may keep it open.
}

void HttpServer::add_route(std::string_view method, std::string route, std::string_view operation) {
    const auto* found = impl_->engine.find(operation);
    if (found == nullptr)
        throw std::invalid_argument{
            "pawl: route " + route + " names the operation " + std::string{operation} +
            ": add it to the service first"};
    impl_->routes.add(std::string{method}, std::move(route), Target{.operation = found});
}

void HttpServer::add_query(std::string route, ErasedQuery query) {
    impl_->routes.add("GET", std::move(route), Target{.query = std::move(query)});
}

void HttpServer::public_page(std::string_view method, const std::string& route, PublicPage page) {
    auto open = [page = std::move(page)](const Request& request, const Writer& out) {
        if (http::is_from_program(request.head))
            return (*out)(http::refusal(404, "This path has a page, which only browsers get."));
        (*out)(http::reply_of(page, request));
    };
    impl_->routes.add(std::string{method}, route, {.open = std::move(open)});
}

void HttpServer::webhook(const std::string& route, Webhook receive, std::size_t body_max) {
    auto open = [receive = std::move(receive)](const Request& request, const Writer& out) {
        receive({request.head, request.body}, [out](Response response) {
            (*out)(http::reply_to(engine::StoredResponse{std::move(response), false, {}}, 422));
        });
    };
    impl_->routes.add("POST", route, {.open = std::move(open), .open_max = body_max});
}

void HttpServer::start() {
    impl_->access.observe(impl_->engine.observer());
    impl_->listener->start();
}
std::uint16_t HttpServer::port() const {
    return impl_->listener->port();
}
const HttpOptions& HttpServer::options() const {
    return impl_->options;
}
std::string HttpServer::openapi(std::string_view title, std::string_view version) const {
    std::vector<http::DescribedRoute> described;
    impl_->routes.for_each([&](auto& method, auto& pattern, const Target& to) {
        const auto add = [&](auto& what, KeyRule key) {
            described.push_back({method, pattern, what.name, key, what.schema()});
        };
        if (to.operation != nullptr) add(*to.operation, to.operation->settings.key);
        if (to.query) add(*to.query, KeyRule::none);
    });
    return http::openapi(
        {title, version, impl_->options.anonymous, impl_->options.key_reused_status}, described
    );
}
void HttpServer::reopen_logs() {
    impl_->access.reopen();
    if (auto why = log::reopen()) log::error("log_not_reopened", {{"detail", *why}});
    log::info("logs_reopened");
}
bool HttpServer::stop(std::chrono::milliseconds drain) {
    return impl_->listener->stop(drain);
}

}  // namespace pawl
