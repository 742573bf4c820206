#include "src/trace/recorder.hpp"

#include "src/engine/attention_log.hpp"

#include <utility>

namespace pawl::trace {

namespace {

std::string joined(std::string_view word, std::string_view name) {
    return std::string{word} + ' ' + std::string{name};
}

// Texts that are empty are left out, as numbers that are zero.
void add_to(Span& span, std::string_view name, std::string_view text) {
    if (!text.empty()) span.attributes.push_back({name, std::string{text}});
}
void add_to(Span& span, std::string_view name, std::int64_t number) {
    if (number != 0) span.attributes.push_back({name, number});
}

std::string_view outcome_of(const engine::Answer& answer) {
    const auto* refused = std::get_if<engine::Rejection>(&answer);
    return refused != nullptr ? engine::name_of(refused->reason) : std::string_view{"completed"};
}

std::string_view point_of(const engine::ObservedStep& step) {
    return step.operation.steps[step.step].from;
}

bool is_recorded(const engine::ObservedStep& step) {
    return step.under != nullptr && step.under->sampled();
}

void describe(Span& span, const engine::ObservedStep& step) {
    add_to(span, "pawl.operation", step.operation.name);
    add_to(span, "pawl.recovery_point", point_of(step));
    add_to(span, "pawl.result", step.result);
}

}  // namespace

void Recorder::add(Span span, engine::SteadyTime began, engine::SteadyTime ended) {
    span.ended_ns = wall_.at(ended);
    span.began_ns = span.ended_ns - std::chrono::nanoseconds{ended - began}.count();
    exporter_.add(std::move(span));
}

void Recorder::add_step(std::string_view word, const engine::ObservedStep& step, Took took) {
    if (!is_recorded(step)) return;
    Span span{
        .here = step.under->child(parts_.random.next()),
        .parent = std::string{step.under->span_id()},
        .name = joined(word, point_of(step))};
    describe(span, step);
    const auto now = parts_.clock.steady();
    add(std::move(span), now - took, now);
}

void Recorder::on_phase(const engine::ObservedStep& phase, Took took) {
    add_step("phase", phase, took);
}

void Recorder::on_keep(const engine::ObservedStep& call, Took took) {
    add_step("keep", call, took);
}

void Recorder::add_call(
    std::string_view word, const engine::ObservedStep& call, Took took, bool failed
) {
    if (!is_recorded(call) || call.span == nullptr) return;
    Span span{
        .here = *call.span,
        .parent = std::string{call.under->span_id()},
        .name = joined(word, point_of(call)),
        .kind = SpanKind::client,
        .failed = failed};
    describe(span, call);
    add_to(span, "pawl.provider", call.provider.empty() ? call.target : call.provider);
    add_to(span, "http.response.status_code", call.provider_status);
    const auto now = parts_.clock.steady();
    add(std::move(span), now - took, now);
}

void Recorder::on_call(const engine::ObservedStep& call, core::CallEnded ended, Took took) {
    add_call("call", call, took, ended != core::CallEnded::result);
}

void Recorder::on_inquiry(const engine::ObservedStep& call, core::InquiryEnded ended, Took took) {
    add_call("inquiry", call, took, ended == core::InquiryEnded::undecided);
}

void Recorder::on_request(const engine::ObservedRequest& request) {
    constexpr int first_error_of_server = 500;
    Span span{
        .here = request.trace.here,
        .parent = request.trace.parent,
        .link = request.trace.link,
        .name = joined(request.method, request.route),
        .kind = SpanKind::server,
        .failed = request.status >= first_error_of_server};
    add_to(span, "http.request.method", request.method);
    add_to(span, "http.route", request.route);
    add_to(span, "http.response.status_code", request.status);
    add_to(span, "pawl.operation", request.operation);
    add_to(span, "pawl.key.hash", request.key_hash);
    add_to(span, "pawl.outcome", request.outcome);
    add(std::move(span), request.began, request.ended);
}

void Recorder::on_attempt(const engine::ObservedAttempt& attempt) {
    if (!attempt.trace.here.sampled()) return;
    const auto outcome = outcome_of(attempt.answer);
    Span span{
        .here = attempt.trace.here,
        .parent = attempt.trace.parent,
        .link = attempt.trace.link,
        .name = joined("attempt", attempt.operation.name),
        .failed = outcome != "completed"};
    add_to(span, "pawl.operation", attempt.operation.name);
    add_to(span, "pawl.key.hash", engine::logged_hash(attempt.key_hash));
    add_to(span, "pawl.attempt", attempt.number);
    add_to(span, "pawl.by", attempt.by);
    add_to(span, "pawl.outcome", outcome);
    add(std::move(span), attempt.began, parts_.clock.steady());
}

void Recorder::on_job(const engine::ObservedJob& job) {
    if (!job.trace.here.sampled()) return;
    Span span{
        .here = job.trace.here,
        .parent = job.trace.parent,
        .link = job.trace.link,
        .name = joined("job", job.kind),
        .kind = SpanKind::consumer,
        .failed = job.result != "done" && job.result != "done_before"};
    add_to(span, "messaging.destination.name", job.queue);
    add_to(span, "messaging.message.id", job.jid);
    add_to(span, "pawl.job.kind", job.kind);
    add_to(span, "pawl.attempt", job.attempt);
    add_to(span, "pawl.result", job.result);
    add(std::move(span), job.began, job.ended);
}

}  // namespace pawl::trace
