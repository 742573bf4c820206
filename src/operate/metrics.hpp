#pragma once

#include "src/engine/observer.hpp"
#include "src/operate/labelled.hpp"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>

#include <chrono>
#include <vector>

namespace pawl::operate {

// The metrics that this server counts as it works; docs/metrics.md lists them. No label is a key,
// an account or another text of a client's. Thread-safe.
class Metrics final : public engine::Observer {
public:
    Metrics();

    void on_answer(const detail::ErasedOperation& operation, const engine::Answer& answer) override;
    void on_event(core::attempt::Event event) override;
    void on_takeover(const detail::ErasedOperation& operation) override;
    void on_phase(const engine::ObservedStep& phase, Took took) override;
    void on_call(const engine::ObservedStep& call, core::CallEnded ended, Took took) override;
    void on_inquiry(const engine::ObservedStep& call, core::InquiryEnded ended, Took took) override;
    void on_jobs(
        std::string_view queue, std::string_view kind, const engine::JobsEnded& ended, Took took
    ) override;
    void on_http(std::string_view method, std::string_view route, int status, Took took) override;
    // Of the probe that writes each second (store_probe.hpp).
    void on_store_write(Took took) {
        store_writes_.Observe(std::chrono::duration<double>(took).count());
    }

    std::vector<prometheus::MetricFamily> collect() const { return registry_.Collect(); }

private:
    using Counter = prometheus::Counter;
    using Histogram = prometheus::Histogram;
    Labelled<Counter> counter(const char* name, const char* help, std::vector<std::string> labels);
    Labelled<Histogram> histogram(
        const char* name, const char* help, std::vector<std::string> labels
    );

    prometheus::Registry registry_;
    std::vector<Counter*> events_;  // By number.
    Labelled<Counter> requests_;
    Labelled<Counter> takeovers_;
    Labelled<Histogram> phases_;
    Labelled<Histogram> calls_;
    Labelled<Counter> inquiries_;
    Labelled<Counter> jobs_;
    Labelled<Histogram> job_times_;
    Labelled<Histogram> http_;
    Histogram& store_writes_;
};

}  // namespace pawl::operate
