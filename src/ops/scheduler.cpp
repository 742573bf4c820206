#include "src/ops/scheduler.hpp"

#include <pawl/detail/rows.hpp>

#include "src/base/log.hpp"
#include "src/base/time_text.hpp"
#include "src/core/fault.hpp"
#include "src/core/tick_rule.hpp"
#include "src/engine/tx_factory.hpp"
#include "src/ops/rounds.hpp"
#include "src/store/blocking.hpp"
#include "src/store/damaged_row.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <stdexcept>
#include <utility>

namespace pawl::ops {

using namespace std::chrono_literals;
using detail::execute_statement;
using detail::Row;
using detail::run_statement;

namespace {

// Also finds a schedule that another server has declared anew, and a clock that was set.
constexpr std::chrono::milliseconds look_again = 1min;
constexpr std::chrono::milliseconds after_trouble = 1s;
constexpr std::size_t name_max = 100;

struct Stored {
    std::string schedule;
    TimePoint next_at{};
    std::string problem;  // Empty: the row decodes.
};
struct Schedules {
    std::map<std::string, Stored, std::less<>> by_name;
    TimePoint now{};
};

Schedules read_schedules(store::Store& store) {
    return store::read_now(store, [](store::Session& session) {
        Schedules found{.by_name = {}, .now = session.now()};
        run_statement(session, sql::list_schedules, [&](const Row& row) {
            store::DamagedRow values{row, sql::list_schedules.name};
            const auto next_at = values.column<TimePoint>(2, "next_at");
            found.by_name[std::string{row.text(0)}] = {
                std::string{row.text(1)}, next_at, values.problem()};
        });
        return found;
    });
}

}  // namespace

PeriodicJob periodic_job(
    std::string_view cron,
    const PeriodicOptions& options,
    std::string_view kind,
    std::function<void(Tx& tx, TimePoint tick)> stage
) {
    PeriodicJob job{
        .name = options.name.empty() ? std::string{kind} : options.name,
        .schedule = std::string{cron} + " " + options.time_zone,
        .skip_missed = options.skip_missed,
        .stage = std::move(stage)};
    const auto refuse = [&](const std::string& why) {
        throw std::invalid_argument{"pawl: the periodic job '" + job.name + "': " + why};
    };
    if (job.name.size() > name_max)
        refuse(
            "its name has " + std::to_string(job.name.size()) + " bytes: at most " +
            std::to_string(name_max)
        );
    auto parsed = core::parse_cron(cron);
    if (const auto* problem = std::get_if<core::CronProblem>(&parsed)) refuse(problem->message);
    auto zone = core::find_time_zone(options.time_zone);
    if (const auto* problem = std::get_if<core::CronProblem>(&zone)) refuse(problem->message);
    job.cron = std::get<core::Cron>(parsed);
    job.zone = std::get<core::TimeZone>(zone);
    return job;
}

Scheduler::Scheduler(engine::Engine& engine, std::function<void()> on_staged)
    : engine_{engine}, on_staged_{std::move(on_staged)} {}

void Scheduler::add(PeriodicJob job) {
    if (std::ranges::count(jobs_, job.name, &PeriodicJob::name) > 0)
        throw std::logic_error{
            "pawl: two periodic jobs are named '" + job.name + "': name one in PeriodicOptions"};
    jobs_.push_back(std::move(job));
}

void Scheduler::declare() {
    store::write_now(engine_.store(), [&](store::Session& session) {
        for (const auto& job : jobs_)
            execute_statement(
                session,
                sql::declare_schedule,
                job.name,
                job.schedule,
                next_tick(job.cron, job.zone, session.now())
            );
    });
    declared_ = true;
}

std::chrono::milliseconds Scheduler::run_once() {
    if (!declared_) declare();
    const auto found = read_schedules(engine_.store());
    auto wait = look_again;
    std::exception_ptr failed;  // Of the first job that failed: the others do not wait for it.
    for (const auto& job : jobs_) {
        const auto row = found.by_name.find(job.name);
        // A server with another release of the program has declared it anew, and runs it.
        if (row == found.by_name.end() || row->second.schedule != job.schedule) continue;
        try {
            const auto& [_, stored, problem] = row->second;
            if (!problem.empty())
                throw std::runtime_error{
                    "PAWL0022: the row of the periodic job " + job.name +
                    " is damaged: " + problem};
            const auto decision =
                core::decide_tick(job.cron, job.zone, job.skip_missed, stored, found.now);
            if (decision.advance) run_tick(job, stored);
            wait = std::min(wait, std::max(decision.next_at - found.now, 1ms));
        } catch (const std::exception&) {
            if (!failed) failed = std::current_exception();
        }
    }
    if (failed) std::rethrow_exception(failed);
    return wait;
}

void Scheduler::run_tick(const PeriodicJob& job, TimePoint stored) {
    bool staged = false;
    const auto run = store::write_now(engine_.store(), [&](store::Session& session) {
        staged = false;
        const auto decision =
            core::decide_tick(job.cron, job.zone, job.skip_missed, stored, session.now());
        const auto advanced = execute_statement(
            session,
            sql::advance_schedule,
            job.name,
            job.schedule,
            stored,
            decision.next_at,
            decision.run
        );
        if (advanced == 0) return false;
        if (!decision.run) return true;
        auto context = engine_.tx_context(session, std::nullopt, staged, Isolation::read_committed);
        context.running.label.name = job.name;
        context.running.label.step = "schedule";
        detail::TxFactory::with_tx(context, [&](Tx& tx) { job.stage(tx, *decision.run); });
        PAWL_FAULT("scheduler.tick.inside");
        return true;
    });
    PAWL_FAULT("scheduler.tick.after");
    if (staged) on_staged_();
    if (run && !staged)
        log::warning(
            "periodic_ticks_skipped",
            {{"name", job.name}, {"tick", base::time_text(stored)}, {"schedule", job.schedule}}
        );
}

void Scheduler::run(const std::stop_token& stop) {
    if (jobs_.empty()) return;
    Wake wake;
    while (!stop.stop_requested()) {
        auto wait = after_trouble;
        run_round("scheduler", [&] { wait = run_once(); });
        wake.wait(stop, wait);
    }
}

}  // namespace pawl::ops
