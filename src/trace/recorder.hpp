#pragma once

#include "src/base/random.hpp"
#include "src/engine/observer.hpp"
#include "src/trace/exporter.hpp"
#include "src/trace/wall_clock.hpp"

#include <string_view>

namespace pawl::trace {

// Makes spans of what the engine, the workers and the HTTP server do. docs/howto/traces.md lists
// them. Thread-safe.
class Recorder final : public engine::Observer {
public:
    struct Parts {
        base::Clock& clock;  // These outlive the recorder.
        base::Random& random;
    };
    Recorder(Parts parts, double ratio, ExporterOptions options)
        : parts_{parts}, ratio_{ratio}, wall_{parts.clock}, exporter_{std::move(options)} {}

    std::optional<double> trace_ratio() const override { return ratio_; }
    std::optional<engine::SpanCounts> span_counts() const override { return exporter_.counts(); }
    void on_phase(const engine::ObservedStep& phase, Took took) override;
    void on_keep(const engine::ObservedStep& call, Took took) override;
    void on_call(const engine::ObservedStep& call, core::CallEnded ended, Took took) override;
    void on_inquiry(const engine::ObservedStep& call, core::InquiryEnded ended, Took took) override;
    void on_request(const engine::ObservedRequest& request) override;
    void on_attempt(const engine::ObservedAttempt& attempt) override;
    void on_job(const engine::ObservedJob& job) override;
    void stop() { exporter_.stop(); }

private:
    void add_step(std::string_view word, const engine::ObservedStep& step, Took took);
    void add_call(std::string_view word, const engine::ObservedStep& call, Took took, bool failed);
    void add(Span span, engine::SteadyTime began, engine::SteadyTime ended);

    Parts parts_;
    double ratio_;
    WallClock wall_;
    Exporter exporter_;
};

}  // namespace pawl::trace
