#pragma once

#include "src/engine/observer.hpp"

#include <utility>

namespace pawl::engine {

// Two observers, each of which gets everything: metrics and traces.
class Observers final : public Observer {
public:
    Observers(std::shared_ptr<Observer> first, std::shared_ptr<Observer> second)
        : first_{std::move(first)}, second_{std::move(second)} {}

    void on_answer(const detail::ErasedOperation& operation, const Answer& answer) override {
        both(&Observer::on_answer, operation, answer);
    }
    void on_event(core::attempt::Event event) override { both(&Observer::on_event, event); }
    void on_takeover(const detail::ErasedOperation& operation) override {
        both(&Observer::on_takeover, operation);
    }
    void on_phase(const ObservedStep& phase, Took took) override {
        both(&Observer::on_phase, phase, took);
    }
    void on_keep(const ObservedStep& call, Took took) override {
        both(&Observer::on_keep, call, took);
    }
    void on_call(const ObservedStep& call, core::CallEnded ended, Took took) override {
        both(&Observer::on_call, call, ended, took);
    }
    void on_inquiry(const ObservedStep& call, core::InquiryEnded ended, Took took) override {
        both(&Observer::on_inquiry, call, ended, took);
    }
    void on_jobs(std::string_view queue, std::string_view kind, const JobsEnded& ended, Took took)
        override {
        both(&Observer::on_jobs, queue, kind, ended, took);
    }
    void on_http(std::string_view method, std::string_view route, int status, Took took) override {
        both(&Observer::on_http, method, route, status, took);
    }
    std::optional<double> trace_ratio() const override {
        const auto ratio = first_->trace_ratio();
        return ratio ? ratio : second_->trace_ratio();
    }
    std::optional<SpanCounts> span_counts() const override {
        const auto counts = first_->span_counts();
        return counts ? counts : second_->span_counts();
    }
    void on_request(const ObservedRequest& request) override {
        both(&Observer::on_request, request);
    }
    void on_attempt(const ObservedAttempt& attempt) override {
        both(&Observer::on_attempt, attempt);
    }
    void on_job(const ObservedJob& job) override { both(&Observer::on_job, job); }

private:
    template <class... P, class... A>
    void both(void (Observer::*what)(P...), const A&... a) {
        ((*first_).*what)(a...);
        ((*second_).*what)(a...);
    }

    std::shared_ptr<Observer> first_;  // Shared with who reads them.
    std::shared_ptr<Observer> second_;
};

}  // namespace pawl::engine
