#include "src/http/response_writer.hpp"

#include "src/base/log.hpp"
#include "src/engine/attention_log.hpp"
#include "src/http/negotiation.hpp"
#include "src/http/problem.hpp"
#include "src/http/reply_check.hpp"
#include "src/http/request_id.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

namespace pawl {

std::string_view Shown::header(std::string_view name) const {
    const auto at = std::ranges::find(headers, name, &Header::name);
    return at == headers.end() ? std::string_view{} : std::string_view{at->value};
}

namespace http {

namespace {

// Headers that programs read, kept however the page is rendered.
constexpr std::array<std::string_view, 5> kept_headers{
    "Allow", "Idempotency-Expires", "Idempotent-Replayed", "Retry-After", "WWW-Authenticate"};

bool has_header(const std::vector<Header>& headers, std::string_view name) {
    return std::ranges::find(headers, name, &Header::name) != headers.end();
}

Reply page_reply(Response page, const Reply& answer) {
    Reply reply{
        .status = page.status, .headers = std::move(page.headers), .body = std::move(page.body)};
    if (!page.content_type.empty())
        reply.headers.push_back({"Content-Type", std::move(page.content_type)});
    for (const auto& header : answer.headers)
        if (std::ranges::find(kept_headers, header.name) != kept_headers.end())
            reply.headers.push_back(header);
    if (!has_header(reply.headers, "Cache-Control"))
        reply.headers.push_back({"Cache-Control", "no-store"});
    reply.headers.push_back({"Vary", "Accept, Authorization, Sec-Fetch-Mode"});
    return reply;
}

}  // namespace

Reply shown(const BrowserOptions& browser, const Shown& what, Reply reply) {
    try {
        if (auto page = browser.present(what)) {
            auto made = page_reply(std::move(*page), reply);
            const auto problem = problem_of(made);
            if (!problem) return made;
            log::limited_error("page_failed", {{"detail", *problem}});
        }
    } catch (const std::exception& thrown) {
        log::limited_error("page_failed", {{"detail", thrown.what()}});
    } catch (...) {
        log::limited_error(
            "page_failed", {{"detail", "an exception that is not a std::exception"}}
        );
    }
    return reply;
}

void log_refusal(
    AccessLog& access, const RequestHead& head, Reply& reply, std::string_view problem
) {
    auto id = request_id_of(head);
    access.write(
        {.client = head.client_address,
         .method = head.method,
         .route = "",
         .status = reply.status,
         .bytes = reply.body.size(),
         .request_id = id,
         .problem = problem}
    );
    reply.headers.push_back({"X-Request-Id", std::move(id)});
}

ResponseWriter::ResponseWriter(Parts parts, Responder respond, const RequestHead& head)
    : parts_{std::move(parts)},
      respond_{std::move(respond)},
      request_id_{request_id_of(head)},
      trace_{parts_.engine.begin_trace(caller_of(head))} {
    if (parts_.browser.present && asks_for_page(head))
        browsing_ = std::make_unique<Browsing>(Browsing{head, {}, {}});
    if (!parts_.access.on()) return;
    client_ = head.client_address;
    method_ = head.method;
    began_ = parts_.engine.clock().steady();
}

void ResponseWriter::set_principal(const Principal& principal) {
    if (browsing_ || logs()) principal_ = principal;
}

void ResponseWriter::set_form(std::vector<FormField> form) {
    if (browsing_) browsing_->form = std::move(form);
}

void ResponseWriter::set_key(std::string_view key) {
    if (browsing_) browsing_->key = key;
}

void ResponseWriter::operator()(Reply reply) {
    if (used_.exchange(true)) return;  // It was answered, and then its handler threw.
    place_.leave();  // Before the answer: its client may send the next request at once.
    const bool replayed = has_header(reply.headers, "Idempotent-Replayed");
    const auto problem = logs() ? problem_type(reply) : std::string{};
    if (browsing_) {
        const auto answer = std::move(reply);
        reply = shown(
            parts_.browser,
            {.head = browsing_->head,
             .principal = principal_ ? &*principal_ : nullptr,
             .route = route_,
             .key = browsing_->key,
             .form = browsing_->form,
             .status = answer.status,
             .headers = answer.headers,
             .body = answer.body},
            answer
        );
    }
    reply = sendable(std::move(reply), route_);
    reply.headers.push_back({"X-Request-Id", request_id_});
    if (logs())
        parts_.access.write(
            {.client = client_,
             .method = method_,
             .route = route_,
             .status = reply.status,
             .bytes = reply.body.size(),
             .took = std::chrono::duration_cast<std::chrono::microseconds>(
                 parts_.engine.clock().steady() - began_
             ),
             .replayed = replayed,
             .over_quota = over_quota_,
             .request_id = request_id_,
             .trace_id = trace_ ? trace_->here.trace_id() : "",
             .tenant = principal_ ? std::string_view{principal_->tenant} : "",
             .account = principal_ ? std::string_view{principal_->account} : "",
             .operation = operation_,
             .key_hash = engine::logged_hash(key_hash_),
             .problem = problem}
        );
    // Before the response, after which nothing keeps the engine alive.
    if (trace_) end_trace(reply.status, replayed ? "replayed" : problem);
    respond_(std::move(reply));
}

// If the request did not go on with its key, another one has, or will: the link is read from the
// time line of the key, and the response does not wait for it.
void ResponseWriter::end_trace(int status, std::string outcome) {
    auto* const by = parts_.engine.observer();
    if (route_.empty() || !trace_->here.sampled() || !parts_.engine.records_traces()) return;
    // A copy, as the attempt may go on after its client was answered.
    auto done = std::make_shared<engine::ObservedRequest>(engine::ObservedRequest{
        .trace = *trace_,
        .method = method_,
        .route = route_,
        .operation = operation_,
        .key_hash = std::string{engine::logged_hash(key_hash_)},
        .status = status,
        .outcome = std::move(outcome),
        .began = began_,
        .ended = parts_.engine.clock().steady()});
    if (key_hash_.empty() || done->trace.at_work) return by->on_request(*done);
    parts_.engine.look_up_trace(
        key_hash_,
        [by, done, self = shared_from_this()](std::optional<core::TraceContext> link) {
            done->trace.link = std::move(link);
            by->on_request(*done);
        }
    );
}

}  // namespace http

}  // namespace pawl
