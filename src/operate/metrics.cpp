#include "src/operate/metrics.hpp"

#include "src/core/enum_name.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace pawl::operate {

namespace {

using core::attempt::Event;

double in_seconds(engine::Observer::Took took) {
    return std::chrono::duration<double>(took).count();
}

// From a phase in memory to a call at its time-out.
const prometheus::Histogram::BucketBoundaries& bounds() {
    static const prometheus::Histogram::BucketBoundaries made{
        0.000'1,
        0.000'25,
        0.000'5,
        0.001,
        0.002'5,
        0.005,
        0.01,
        0.025,
        0.05,
        0.1,
        0.25,
        0.5,
        1,
        2.5,
        5,
        10,
        30,
        60};
    return made;
}

prometheus::Counter& make_counter(
    prometheus::Family<prometheus::Counter>& family, const prometheus::Labels& labels
) {
    return family.Add(labels);
}
prometheus::Histogram& make_histogram(
    prometheus::Family<prometheus::Histogram>& family, const prometheus::Labels& labels
) {
    return family.Add(labels, bounds());
}

std::string_view point_of(const engine::ObservedStep& at) {
    return at.operation.steps[at.step].from;
}

std::string_view outcome_of(const engine::Answer& answer) {
    if (const auto* stored = std::get_if<engine::StoredResponse>(&answer))
        return stored->replayed ? "replayed" : "completed";
    return engine::name_of(std::get<engine::Rejection>(answer).reason);
}

std::string_view result_of(core::CallEnded ended) {
    switch (ended) {
        case core::CallEnded::result:
            return "answered";
        case core::CallEnded::retry:
            return "not_made";
        case core::CallEnded::in_doubt:
            return "in_doubt";
        case core::CallEnded::stuck:
            break;
    }
    return "stuck";
}

std::string_view result_of(core::InquiryEnded ended) {
    switch (ended) {
        case core::InquiryEnded::found:
            return "found";
        case core::InquiryEnded::not_found:
            return "not_found";
        case core::InquiryEnded::undecided:
            break;
    }
    return "unknown";
}

template <std::size_t... n>
std::array<std::string_view, sizeof...(n)> event_names(std::index_sequence<n...>) {
    return {core::enum_name<static_cast<Event>(n)>()...};
}

}  // namespace

Labelled<prometheus::Counter> Metrics::counter(
    const char* name, const char* help, std::vector<std::string> labels
) {
    auto& family = prometheus::BuildCounter().Name(name).Help(help).Register(registry_);
    return {family, std::move(labels), &make_counter};
}
Labelled<prometheus::Histogram> Metrics::histogram(
    const char* name, const char* help, std::vector<std::string> labels
) {
    auto& family = prometheus::BuildHistogram().Name(name).Help(help).Register(registry_);
    return {family, std::move(labels), &make_histogram};
}

Metrics::Metrics()
    : requests_{counter(
          "pawl_requests_total",
          "Requests by operation and how they were answered",
          {"operation", "outcome"}
      )},
      takeovers_{counter(
          "pawl_takeovers_total",
          "Attempts that went on with a key which another attempt had left",
          {"operation"}
      )},
      phases_{histogram(
          "pawl_phase_duration_seconds",
          "Time of an atomic phase in its transaction",
          {"operation", "point"}
      )},
      calls_{histogram(
          "pawl_call_duration_seconds",
          "Time of a foreign call",
          {"operation", "point", "provider", "result"}
      )},
      inquiries_{counter(
          "pawl_inquiries_total",
          "Inquiries at a provider about a call in doubt",
          {"operation", "point", "provider", "result"}
      )},
      jobs_{counter(
          "pawl_jobs_total", "Tries of jobs and how they ended", {"queue", "kind", "result"}
      )},
      job_times_{histogram(
          "pawl_job_duration_seconds",
          "Time of a try of a job, or of several jobs that were worked together",
          {"queue", "kind"}
      )},
      http_{histogram(
          "http_server_request_duration_seconds",
          "Time from the last byte of a request to its response",
          {"http_request_method", "http_route", "http_response_status_code"}
      )},
      store_writes_{prometheus::BuildHistogram()
                        .Name("pawl_store_write_duration_seconds")
                        .Help("Time of the small write that probes the database each second")
                        .Register(registry_)
                        .Add({}, bounds())} {
    auto& family = prometheus::BuildCounter()
                       .Name("pawl_attempt_events_total")
                       .Help("Events of the attempt machine (ARCHITECTURE.md)")
                       .Register(registry_);
    for (const auto name : event_names(std::make_index_sequence<core::attempt::event_count>{}))
        events_.push_back(&family.Add({{"event", std::string{name}}}));
}

void Metrics::on_answer(const detail::ErasedOperation& operation, const engine::Answer& answer) {
    requests_.at({operation.name, outcome_of(answer)}).Increment();
}
void Metrics::on_event(Event event) {
    events_[std::size_t(event)]->Increment();
}
void Metrics::on_takeover(const detail::ErasedOperation& operation) {
    takeovers_.at({operation.name}).Increment();
}
void Metrics::on_phase(const engine::ObservedStep& phase, Took took) {
    phases_.at({phase.operation.name, point_of(phase)}).Observe(in_seconds(took));
}
void Metrics::on_call(const engine::ObservedStep& call, core::CallEnded ended, Took took) {
    const auto provider = provider_label(call.provider);
    calls_.at({call.operation.name, point_of(call), provider, result_of(ended)})
        .Observe(in_seconds(took));
}
void Metrics::on_inquiry(const engine::ObservedStep& call, core::InquiryEnded ended, Took) {
    const auto provider = provider_label(call.provider);
    inquiries_.at({call.operation.name, point_of(call), provider, result_of(ended)}).Increment();
}
void Metrics::on_jobs(
    std::string_view queue, std::string_view kind, const engine::JobsEnded& ended, Took took
) {
    const auto add = [&](std::string_view result, int count) {
        if (count > 0) jobs_.at({queue, kind, result}).Increment(count);
    };
    add("done", ended.done);
    add("done_before", ended.done_before);
    add("retried", ended.retried);
    add("dead", ended.dead);
    add("lost", ended.lost);
    job_times_.at({queue, kind}).Observe(in_seconds(took));
}
void Metrics::on_http(std::string_view method, std::string_view route, int status, Took took) {
    http_.at({method, route, std::to_string(status)}).Observe(in_seconds(took));
}

}  // namespace pawl::operate
