#include "src/base/log.hpp"
#include "src/core/death_rule.hpp"
#include "src/ops/worker.hpp"

#include <chrono>
#include <string>
#include <variant>

// Jobs whose servers died while they had them (docs/adr/0044).
namespace pawl::ops {

namespace {

// Handlers end within their time-outs, by default 50 s.
constexpr std::chrono::minutes alone_wait_max{1};
constexpr std::chrono::minutes after_others_run{1};
constexpr std::chrono::seconds after_another{1};

core::DeathRule rule_of(const queue::ClaimedJob& job, const LoneRuns& runs) {
    return core::decide_after_deaths(
        {.deaths = job.deaths,
         .deaths_before_alone = job.deaths_before_alone,
         .server_age = runs.age()}
    );
}

}  // namespace

bool Worker::runs_beside_others(const queue::ClaimedJob& job) const {
    return std::holds_alternative<core::RunShared>(rule_of(job, lone_runs_));
}

// Whether the job may run now; otherwise its result is recorded.
bool Worker::admit(queue::ClaimedJob& job, LoneRuns::Turn& turn, WorkReport& report) {
    const auto rule = rule_of(job, lone_runs_);
    const auto later = [&](std::chrono::milliseconds wait) {
        ++(queue_.reschedule(job, wait, std::nullopt) ? report.retried : report.lost);
        return false;
    };
    if (std::holds_alternative<core::RunShared>(rule)) return true;
    if (const auto* wait = std::get_if<core::RunLater>(&rule)) return later(wait->wait);
    if (std::holds_alternative<core::NeverRun>(rule)) {
        dead_letter(
            job,
            "servers died " + std::to_string(job.deaths) +
                " times while they had it, the last one while it ran alone",
            report
        );
        return false;
    }
    switch (turn.run_alone(alone_wait_max)) {
        case LoneRuns::Turn::Alone::another_is:
            return later(after_another);
        case LoneRuns::Turn::Alone::others_run:
            return later(after_others_run);
        case LoneRuns::Turn::Alone::yes:
            break;
    }
    if (!queue_.begin_alone(job)) {
        ++report.lost;
        return false;
    }
    log::limited_warning(
        "job_alone",
        job.kind,
        {{"jid", job.raw.jid}, {"kind", job.kind}, {"deaths", job.deaths}},
        log::burst_of_names
    );
    return true;
}

}  // namespace pawl::ops
