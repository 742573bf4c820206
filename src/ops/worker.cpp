#include "src/ops/worker.hpp"

#include "src/base/blocking_wait.hpp"
#include "src/base/error_text.hpp"
#include "src/base/log.hpp"
#include "src/core/assert.hpp"
#include "src/core/fault.hpp"
#include "src/core/retry_layers.hpp"
#include "src/engine/tx_factory.hpp"
#include "src/json/fingerprint.hpp"
#include "src/json/hash.hpp"
#include "src/json/members.hpp"
#include "src/queue/dead_job_log.hpp"

#include <algorithm>
#include <future>
#include <utility>

namespace pawl::ops {

namespace {

constexpr const char* no_exception = "an exception that is not a std::exception";

detail::Worked failure_text(const std::string& text) {
    return detail::NotDecoded{text};
}

engine::JobsEnded between(const WorkReport& before, const WorkReport& after) {
    return {
        .done = after.done - before.done,
        .done_before = after.done_before - before.done_before,
        .retried = after.retried - before.retried,
        .dead = after.dead_lettered - before.dead_lettered,
        .lost = after.lost - before.lost};
}

std::string_view result_of(const engine::JobsEnded& one) {
    if (one.done > 0) return "done";
    if (one.done_before > 0) return "done_before";
    if (one.retried > 0) return "retried";
    return one.dead > 0 ? "dead" : "lost";
}

struct EndedTx {
    TxOutcome outcome{TxLost{}};
    engine::SteadyTime at{};
};

// Set by the store's threads, read by one worker thread.
class Outcomes {
public:
    explicit Outcomes(std::size_t count) : outcomes_(count), open_{count} {}
    void set(std::size_t i, EndedTx outcome) {
        const std::lock_guard lock{mutex_};
        PAWL_ASSERT(open_ > 0);  // One outcome of each transaction.
        outcomes_[i] = std::move(outcome);
        if (--open_ == 0) all_.notify_one();
    }
    std::vector<EndedTx> wait() {
        std::unique_lock lock{mutex_};
        base::wait_for(all_, lock, [this] { return open_ == 0; });
        return std::move(outcomes_);
    }

private:
    std::mutex mutex_;
    std::condition_variable all_;
    std::vector<EndedTx> outcomes_;
    std::size_t open_;
};

}  // namespace

std::optional<std::string> WorkerOptions::problem() const {
    if (threads < 0 || threads > 1'000)
        return "workers is " + std::to_string(threads) + ": 0 to 1000";
    if (claim_max < 1 || claim_max > 10'000)
        return "claim_max is " + std::to_string(claim_max) + ": 1 to 10000";
    if (timeout >= lease)
        return "job_timeout is " + std::to_string(timeout.count()) + " ms: less than job_lease, " +
               std::to_string(lease.count()) + " ms";
    return std::nullopt;
}

Worker::Worker(
    engine::Engine& engine,
    queue::Queue& queue,
    Pauses& pauses,
    WorkerOptions options,
    LoneRuns* lone_runs
)
    : engine_{engine},
      queue_{queue},
      pauses_{pauses},
      options_{std::move(options)},
      own_lone_runs_{engine.clock()},
      lone_runs_{lone_runs != nullptr ? *lone_runs : own_lone_runs_},
      claim_size_{std::max(options_.threads, 1), options_.claim_max},
      in_flight_{engine.clock()} {
    in_flight_.on_sooner([this] {
        {
            const std::lock_guard lock{mutex_};
            sooner_ = true;
        }
        upkeep_.notify_one();
    });
}

void Worker::add(detail::ErasedJob form) {
    const auto settings = form.settings;
    add(Handler{settings, std::move(form)});
}

void Worker::add(const detail::KindOfJob& settings, const detail::ErasedOperation& operation) {
    add(Handler{settings, &operation});
}

void Worker::add(Handler handler) {
    const auto settings = handler.settings;
    const std::string kind{settings.kind};
    if (!handlers_.emplace(kind, std::move(handler)).second)
        throw std::logic_error{"pawl: two handlers for jobs of kind '" + kind + "'"};
    if (settings.queue == options_.queue) ++own_kinds_;
}

const detail::ErasedJob* Worker::form_in_transaction(const queue::ClaimedJob& job) const {
    const auto at = handlers_.find(job.kind);
    if (at == handlers_.end() || job.refused) return nullptr;
    const auto* form = std::get_if<detail::ErasedJob>(&at->second.form);
    return form != nullptr && form->in_transaction ? form : nullptr;
}

WorkReport Worker::run_once(int limit) {
    WorkReport report;
    for (bool claimed = false; true; claimed = true) {
        LoneRuns::Turn turn{lone_runs_};
        if (!turn.granted()) return report;
        if (!claimed) claim(limit);
        auto next = in_flight_.next([](const auto&) { return false; }, {});
        if (next.jobs.empty()) return report;
        work_all(next.jobs, turn, report);
    }
}

void Worker::work_all(std::vector<HeldJob>& jobs, LoneRuns::Turn& turn, WorkReport& report) {
    // Leaves all jobs, also after an exception: the lease of a held job is renewed for ever.
    struct Leaves {
        InFlightJobs& in_flight;
        std::string kind;
        std::vector<std::pair<std::string, std::int64_t>> jobs{};
        ~Leaves() {
            for (const auto& [id, claim] : jobs) in_flight.leave(id, claim);
            in_flight.turn_over(kind);
        }
    } leaves{in_flight_, jobs.front().job.kind};
    for (const auto& held : jobs) leaves.jobs.emplace_back(held.job.id, held.job.claim);
    const auto before = report;
    const auto began = engine_.clock().steady();
    bool admitted = false;
    or_lost(jobs.front().job, report, [&] {
        admitted = admit(jobs.front().job, turn, report);  // One that needs to be alone is.
    });
    if (!admitted)
        jobs.clear();
    else if (form_in_transaction(jobs.front().job) != nullptr)
        work_in_transactions(jobs, report);
    else
        for (auto& held : jobs) {
            const auto before_it = report;
            const auto its_begin = engine_.clock().steady();
            held.trace = engine_.begin_trace(held.job.trace);
            or_lost(held.job, report, [&] { work(held, report); });
            end_trace(held, before_it, report, its_begin, engine_.clock().steady());
        }
    if (auto* by = engine_.observer())
        by->on_jobs(
            options_.queue, leaves.kind, between(before, report), engine_.clock().steady() - began
        );
}

void Worker::end_trace(
    const HeldJob& held,
    const WorkReport& before,
    const WorkReport& report,
    engine::SteadyTime began,
    engine::SteadyTime ended
) {
    if (!held.trace || !engine_.records_traces()) return;
    engine_.observer()->on_job(
        {.trace = *held.trace,
         .queue = options_.queue,
         .kind = held.job.kind,
         .jid = held.job.raw.jid,
         .attempt = held.job.raw.attempt,
         .result = result_of(between(before, report)),
         .began = began,
         .ended = ended}
    );
}

template <class F>
void Worker::or_lost(const queue::ClaimedJob& job, WorkReport& report, F f) {
    try {
        f();
    } catch (const std::exception& error) {
        ++report.lost;
        log::limited_warning(
            "job_lost",
            job.kind + ": " + base::error_kind(error.what()),
            {{"jid", job.raw.jid}, {"kind", job.kind}, {"detail", error.what()}},
            log::burst_of_names
        );
    }
}

void Worker::work(HeldJob& held, WorkReport& report) {
    if (held.job.refused) return dead_letter(held.job, *held.job.refused, report);
    const auto at = handlers_.find(held.job.kind);
    if (at == handlers_.end())
        unknown(held.job, "no handler for jobs of kind '" + held.job.kind + "'", report);
    else if (const auto* form = std::get_if<detail::ErasedJob>(&at->second.form))
        work_in_call(*form, held, report);
    else
        work_as_operation(*std::get<const detail::ErasedOperation*>(at->second.form), held, report);
}

// Each job has a transaction of its own; the store may commit several at once.
void Worker::work_in_transactions(std::vector<HeldJob>& jobs, WorkReport& report) {
    std::vector<const HeldJob*> held;
    const auto began = engine_.clock().steady();
    for (auto& job : jobs)
        or_lost(job.job, report, [&] {
            if (still_held(job))
                held.push_back(&job);
            else
                ++report.lost;
        });
    for (auto& job : jobs) job.trace = engine_.begin_trace(job.job.trace);
    Outcomes outcomes{held.size()};
    std::vector<std::unique_ptr<store::Work>> works;
    for (std::size_t i = 0; i < held.size(); ++i) {
        const auto& job = held[i]->job;
        const auto* form = form_in_transaction(job);
        PAWL_ASSERT(form != nullptr);  // InFlightJobs::next() put only such jobs together.
        const JobRun run{
            .job = job,
            .held_since = held[i]->asked_at,
            .lease = options_.lease,
            .deadline = form->settings.timeout.value_or(options_.phase_deadline),
            .trace = held[i]->trace ? &held[i]->trace->here : nullptr};
        const auto ends = [this, &outcomes, i](TxOutcome outcome) {
            outcomes.set(i, {std::move(outcome), engine_.clock().steady()});
        };
        works.push_back(job_in_tx(engine_, queue_, *form, run, ends));
    }
    engine_.store().write_all(std::move(works));
    const auto ended = outcomes.wait();
    for (std::size_t i = 0; i < held.size(); ++i) {
        const auto before = report;
        or_lost(held[i]->job, report, [&] {
            settle_in_transaction(held[i]->job, ended[i].outcome, report);
        });
        end_trace(*held[i], before, report, began, ended[i].at);
    }
}

void Worker::settle_in_transaction(
    const queue::ClaimedJob& job, const TxOutcome& outcome, WorkReport& report
) {
    if (const auto* well = std::get_if<TxDone>(&outcome)) {
        PAWL_FAULT("worker.tx.after");
        if (well->staged) engine_.staged();
        ++report.done;
        queue_.finished(job);
    } else if (std::holds_alternative<TxDoneBefore>(outcome)) {
        ++report.done_before;
        queue_.finished(job);
    } else if (const auto* undone = std::get_if<TxRolledBack>(&outcome)) {
        if (!took_out_done(job, report)) record_result(job, undone->worked, report);
    } else if (const auto* why = std::get_if<TxFailed>(&outcome)) {
        if (!took_out_done(job, report)) failed(job, why->error, report);
    } else if (std::holds_alternative<TxStoreFailed>(outcome)) {
        // The job comes again soon; if that can't be written either, at the end of its lease.
        record_result(job, JobResult{retry_in(1s)}, report);
    } else {
        ++report.lost;
    }
}

// A handler may fail because its own writes of an earlier try are there: a job that was done before
// is not a failure, and must not become a dead letter.
bool Worker::took_out_done(const queue::ClaimedJob& job, WorkReport& report) {
    const bool done = store::read_now(engine_.store(), [&](store::Session& session) {
        return queue_.done_before(session, job);
    });
    if (!done) return false;
    ++report.done_before;
    queue_.finished(job);
    return true;
}

// After a pause over the claim or a mark, the lease is over, or soon will be: another worker would
// run the job at the same time.
bool Worker::still_held(HeldJob& held) {
    const auto now = engine_.clock().moment();
    if (core::may_still_call(held.asked_at, now, options_.lease)) return true;
    if (!queue_.renew(held.job, options_.lease)) return false;
    held.asked_at = now;
    in_flight_.renewed(held.job, now);
    return true;
}

void Worker::work_in_call(const detail::ErasedJob& form, HeldJob& held, WorkReport& report) {
    auto& job = held.job;
    // A retry's call is on record: only its cancellation is looked for.
    const bool ours = job.called_at ? queue_.still_held({job}).front() : queue_.mark_called(job);
    if (!ours || !still_held(held)) {
        ++report.lost;
        return;
    }
    // Read last, as all before may have taken long.
    const core::CallFacts facts{
        .again = Repeat::safe_with_key,
        .called_at = job.called_at,
        .calling = false,
        .provider_key_lifetime = options_.provider_key_lifetime};
    const auto rule = core::decide_call(facts, engine_.clock().now());
    PAWL_ASSERT(job.called_at);  // The call's time is on record before the call (I21).
    if (std::holds_alternative<core::MustNotCall>(rule)) {
        const auto called_at = detail::text_of_time(*job.called_at);
        return dead_letter(
            job,
            "the receiver may have forgotten this job's key: it was first called at " + called_at,
            report
        );
    }
    const auto timeout = form.settings.timeout.value_or(options_.timeout);
    const auto stop = in_flight_.begin(job, timeout);
    detail::Worked worked;
    try {
        const InFlightJobs::Running running{in_flight_, job};
        PAWL_FAULT("worker.call.before");
        const auto key = json::call_key({
            .installation = engine_.installation().name,
            .tenant = "",
            .account = "",
            .client_key = job.raw.jid,
            .point = "job",
        });
        const auto* const span = held.trace ? &held.trace->here : nullptr;
        auto here = engine_.running(base::RunningCode::Where::job, timeout);
        here.label.name = job.kind;
        here.label.jid = job.raw.jid;
        const detail::TxFactory::CallContext context{
            stop, span, here, [this, &job] { return in_flight_.lease_lasts(job, options_.lease); }};
        worked = detail::TxFactory::with_call(CallKey{key}, context, [&](KeyedCall& call) {
            return form.in_call(form.handler.get(), call, job.raw);
        });
        PAWL_FAULT("worker.call.after");
    } catch (const std::exception& thrown) {
        return failed(job, thrown.what(), report);
    } catch (...) {
        return failed(job, no_exception, report);
    }
    record_result(job, worked, report);
}

// The job has the recovery points, fences and attention list of a request.
void Worker::work_as_operation(
    const detail::ErasedOperation& form, const HeldJob& held, WorkReport& report
) {
    const auto& job = held.job;
    auto decoded = form.decode_request(job.raw.args);
    if (auto* why = std::get_if<std::string>(&decoded))
        return record_result(job, failure_text(*why), report);
    engine::KeyedRequest request;
    request.operation = &form;
    request.principal = principal_of_jobs();
    request.key = job.raw.jid;
    request.method = "JOB";
    request.path = job.kind;
    request.of_a_job = true;
    request.trace = held.trace;
    request.request = std::get<detail::ErasedValue>(decoded);
    request.params = form.encode_request(request.request.get());  // This sets its fingerprint, too.
    json::Parts parts;
    parts.add("JOB").add(job.kind).add(request.params);
    set_fingerprint(request, std::move(parts).bytes(), engine_.installation());
    std::promise<engine::Answer> ended;
    engine_.handle(std::move(request), [&](engine::Answer answer) {
        ended.set_value(std::move(answer));
    });
    const auto answer = base::wait_for(ended.get_future());
    if (std::holds_alternative<engine::StoredResponse>(answer))
        return record_result(job, JobResult{done}, report);
    const auto& refused = std::get<engine::Rejection>(answer);
    switch (refused.reason) {
        case engine::Reason::stopping:
        // Trouble of the database never counts as a failure of the job.
        case engine::Reason::store_unavailable:
        case engine::Reason::contention:
        case engine::Reason::overloaded:
            return record_result(job, JobResult{retry_in(1s)}, report);
        case engine::Reason::other_server:
            return record_result(job, JobResult{retry_in(1min)}, report);
        case engine::Reason::key_reused:
        case engine::Reason::key_expired:
            return record_result(
                job,
                JobResult{discard("its key was settled with another request, or has expired")},
                report
            );
        default:
            if (!wait_for_request(job, report)) failed(job, refused.detail, report);
    }
}

// False: it has no request that the completer goes on with.
bool Worker::wait_for_request(const queue::ClaimedJob& job, WorkReport& report) {
    const auto wait = wait_for_request_of_job(engine_.store(), job.raw.jid, options_.request_wait);
    if (!wait) return false;
    ++(queue_.reschedule(job, *wait, std::nullopt) ? report.retried : report.lost);
    return true;
}

// During a deploy a worker of the other release may know it. No worker knows what is no job, such
// as another program's record.
void Worker::unknown(const queue::ClaimedJob& job, const std::string& why, WorkReport& report) {
    if (job.kind.empty() || !json::is_json(job.raw.args)) return dead_letter(job, why, report);
    failed(job, why, report);
}

void Worker::record_result(
    const queue::ClaimedJob& job, const detail::Worked& worked, WorkReport& report
) {
    if (const auto* bad = std::get_if<detail::NotDecoded>(&worked))
        return unknown(job, "its arguments do not decode: " + bad->why, report);
    const auto& result = std::get<JobResult>(worked);
    if (std::holds_alternative<JobDone>(result)) {
        ++(queue_.finish(job) ? report.done : report.lost);
    } else if (const auto* again = std::get_if<JobRetryIn>(&result)) {
        const auto wait = std::max(again->wait, std::chrono::milliseconds{0});
        ++(queue_.reschedule(job, wait, std::nullopt) ? report.retried : report.lost);
    } else {
        dead_letter(job, std::get<JobDiscarded>(result).why, report);
    }
}

void Worker::failed(const queue::ClaimedJob& job, const std::string& error, WorkReport& report) {
    log::limited_warning(
        "job_failed",
        job.kind + ": " + base::error_kind(error),
        {{"jid", job.raw.jid},
         {"kind", job.kind},
         {"detail", error},
         {"failures", job.failures + 1}},
        log::burst_of_names
    );
    const auto handler = handlers_.find(job.kind);
    const auto attempts =
        handler == handlers_.end() ? std::nullopt : handler->second.settings.attempts;
    if (job.attempts_max && job.failures + 1 >= *job.attempts_max)
        return dead_letter(job, error, report);
    const auto next = core::decide_after_job_failure(
        options_.retry_layers, job.failures + 1, attempts, engine_.random().dice()
    );
    if (const auto* again = std::get_if<core::TryAgainIn>(&next)) {
        const auto& layers = options_.retry_layers;
        const auto last = layers.size() - 1;
        const auto layer = layers[std::min(static_cast<std::size_t>(job.failures), last)];
        PAWL_ASSERT(again->wait >= layer);  // No try comes before its wait (I18).
        ++(queue_.reschedule(job, again->wait, error) ? report.retried : report.lost);
        return;
    }
    dead_letter(job, error, report);
}

void Worker::dead_letter(const queue::ClaimedJob& job, const std::string& why, WorkReport& report) {
    if (took_out_done(job, report) || wait_for_request(job, report)) return;
    if (!queue_.dead_letter(job, why)) {
        ++report.lost;
        return;
    }
    ++report.dead_lettered;
    queue::log_dead_job(
        {.jid = job.raw.jid,
         .kind = job.kind,
         .queue = job.queue,
         .failures = job.failures + 1,
         .detail = base::sanitized_error(why)}
    );
}

}  // namespace pawl::ops
