#include "src/ops/worker.hpp"

#include "src/core/backoff.hpp"
#include "src/core/call_rule.hpp"
#include "src/core/fault.hpp"
#include "src/engine/log.hpp"
#include "src/engine/maker.hpp"
#include "src/json/fingerprint.hpp"
#include "src/json/hash.hpp"
#include "src/ops/rounds.hpp"

#include <future>
#include <utility>

namespace pawl::ops {

namespace {

constexpr const char* no_exception = "an exception that is no std::exception";

struct LostJob {};  // Thrown in a handler's transaction when its job is another's: roll back.

detail::Worked failure_text(const std::string& text) {
    return detail::NotDecoded{text};
}

}  // namespace

class Worker::Hold {
public:
    Hold(Worker& worker, const queue::TakenJob& job) : worker_{worker}, id_{job.id} {
        const std::lock_guard lock{worker_.mutex_};
        stop_ = worker_.in_hand_
                    .insert_or_assign(id_, InHand{job, {}, worker_.engine_.clock().steady()})
                    .first->second.stop;
        // NOLINTNEXTLINE(clang-analyzer-cplusplus.Move): the map was given a new one.
        if (worker_.calls_stopped_) stop_.request_stop();
    }
    ~Hold() {
        const std::lock_guard lock{worker_.mutex_};
        worker_.in_hand_.erase(id_);
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    std::stop_token stop() const { return stop_.get_token(); }

private:
    Worker& worker_;
    std::int64_t id_;
    std::stop_source stop_;
};

std::optional<std::string> WorkerOptions::problem() const {
    if (threads < 0 || threads > 1'000)
        return "workers is " + std::to_string(threads) + ": 0 to 1000";
    if (timeout >= lease)
        return "job_timeout is " + std::to_string(timeout.count()) + " ms: less than job_lease, " +
               std::to_string(lease.count()) + " ms";
    return std::nullopt;
}

Worker::Worker(engine::Engine& engine, queue::Queue& queue, WorkerOptions options)
    : engine_{engine}, queue_{queue}, options_{std::move(options)} {}

void Worker::add(detail::JobForm form) {
    std::string kind{form.kind};
    if (!handlers_.emplace(kind, std::move(form)).second)
        throw std::logic_error{"pawl: two handlers are for jobs of kind '" + kind + "'"};
}

void Worker::add(std::string_view kind, const detail::OperationForm& operation) {
    if (!handlers_.emplace(std::string{kind}, &operation).second)
        throw std::logic_error{
            "pawl: two handlers are for jobs of kind '" + std::string{kind} + "'"};
}

WorkReport Worker::run_once(int limit) {
    WorkReport report;
    const core::Moment asked_at{engine_.clock().now(), engine_.clock().steady()};
    for (const auto& job : queue_.take(limit, options_.lease)) work(job, asked_at, report);
    return report;
}

void Worker::work(const queue::TakenJob& job, core::Moment asked_at, WorkReport& report) {
    const auto at = handlers_.find(job.kind);
    try {
        if (at == handlers_.end()) {
            bury(job, "no handler is for jobs of kind '" + job.kind + "'", report);
        } else if (const auto* form = std::get_if<detail::JobForm>(&at->second)) {
            if (form->in_transaction)
                work_in_transaction(*form, job, report);
            else
                work_in_call(*form, job, asked_at, report);
        } else {
            work_as_operation(*std::get<const detail::OperationForm*>(at->second), job, report);
        }
    } catch (const StoreError& error) {
        // Nothing was marked: the lease ends, and the job comes again.
        ++report.lost;
        log::warning(
            "job_not_marked", {{"jid", job.raw.jid}, {"kind", job.kind}, {"detail", error.what()}}
        );
    }
}

// Its writes and the mark that it is done commit together: one effect, however often it is tried.
void Worker::work_in_transaction(
    const detail::JobForm& form, const queue::TakenJob& job, WorkReport& report
) {
    const Hold hold{*this, job};
    detail::Worked worked;
    struct Undo {};
    try {
        auto run = [&](store::Session& session) {
            worked =
                detail::Maker::with_tx({session, engine_.random(), job.raw.key_id}, [&](Tx& tx) {
                    return form.in_tx(form.handler.get(), tx, job.raw);
                });
            const auto* result = std::get_if<JobResult>(&worked);
            if (result == nullptr || !std::holds_alternative<JobDone>(*result)) throw Undo{};
            PAWL_FAULT("worker.tx.inside");
            if (!queue_.finish_in(session, job)) throw LostJob{};
        };
        store::write_now(engine_.store(), run, 5s, Isolation::repeatable_read);
        ++report.done;
    } catch (const Undo&) {
        settle(job, worked, report);
    } catch (const LostJob&) {
        ++report.lost;
    } catch (const StoreError& error) {
        if (!error.passing()) return failed(job, error.what(), report);
        // The database's trouble is no failure of the job: it comes again soon, or, if that can't
        // be written either, with the end of its lease.
        settle(job, JobResult{retry_in(1s)}, report);
    } catch (const std::exception& thrown) {
        failed(job, thrown.what(), report);
    } catch (...) {
        failed(job, no_exception, report);
    }
}

void Worker::work_in_call(
    const detail::JobForm& form,
    const queue::TakenJob& job,
    core::Moment asked_at,
    WorkReport& report
) {
    const auto now = engine_.clock().now();
    if (job.called_at &&
        (*job.called_at > now || now - *job.called_at >= options_.provider_memory)) {
        const auto called_at = detail::text_of_time(*job.called_at);
        return bury(
            job,
            "the receiver may have forgotten this job's key: it was first called at " + called_at,
            report
        );
    }
    if (!job.called_at && !queue_.mark_called(job)) {
        ++report.lost;
        return;
    }
    // A process that was paused over the claim or the mark has a lease that is over, or soon will
    // be: another would send the same while this one does.
    const core::Moment moment{engine_.clock().now(), engine_.clock().steady()};
    if (!core::may_still_call(asked_at, moment, options_.lease) &&
        !queue_.renew(job, options_.lease)) {
        ++report.lost;
        return;
    }
    const Hold hold{*this, job};
    detail::Worked worked;
    try {
        PAWL_FAULT("worker.call.before");
        const auto key = json::foreign_key({
            .installation = engine_.installation().name,
            .tenant = "",
            .account = "",
            .client_key = job.raw.jid,
            .point = "job",
        });
        worked = detail::Maker::with_call(ForeignKey{key}, hold.stop(), [&](KeyedCall& call) {
            return form.in_call(form.handler.get(), call, job.raw);
        });
        PAWL_FAULT("worker.call.after");
    } catch (const std::exception& thrown) {
        return failed(job, thrown.what(), report);
    } catch (...) {
        return failed(job, no_exception, report);
    }
    settle(job, worked, report);
}

// Recovery points, fences and the attention list serve the job as they serve a request.
void Worker::work_as_operation(
    const detail::OperationForm& form, const queue::TakenJob& job, WorkReport& report
) {
    auto decoded = form.decode_request(job.raw.args);
    if (auto* why = std::get_if<std::string>(&decoded))
        return settle(job, failure_text(*why), report);
    const Hold hold{*this, job};
    engine::KeyedRequest request;
    request.operation = &form;
    request.principal = {.tenant = "pawl", .account = "jobs"};
    request.key = job.raw.jid;
    request.method = "JOB";
    request.path = job.kind;
    request.request = std::get<detail::Anything>(decoded);
    request.params = form.encode_request(request.request.get());  // Its fingerprint, too.
    request.fingerprint_under = [kind = job.kind,
                                 params = request.params](const std::string& secret) {
        json::Parts parts;
        parts.add("JOB").add(kind).add(params);
        return json::hex(json::hmac_sha256(secret, parts.bytes()));
    };
    request.fingerprint = request.fingerprint_under(engine_.installation().secret());
    std::promise<engine::Answer> ended;
    engine_.handle(std::move(request), [&](engine::Answer answer) {
        ended.set_value(std::move(answer));
    });
    const auto answer = ended.get_future().get();
    if (std::holds_alternative<engine::Settled>(answer))
        return settle(job, JobResult{done}, report);
    const auto& refused = std::get<engine::Refused>(answer);
    switch (refused.why) {
        case engine::Why::in_progress:
        case engine::Why::stopping:
            return settle(job, JobResult{retry_in(1s)}, report);
        case engine::Why::needs_attention:
            return settle(job, JobResult{retry_in(1min)}, report);
        case engine::Why::key_reused:
        case engine::Why::key_expired:
            return settle(
                job,
                JobResult{discard("its key was settled with another request, or has expired")},
                report
            );
        default:
            return failed(job, refused.detail, report);
    }
}

void Worker::settle(const queue::TakenJob& job, const detail::Worked& worked, WorkReport& report) {
    if (const auto* bad = std::get_if<detail::NotDecoded>(&worked))
        return bury(job, "its arguments do not decode: " + bad->why, report);
    const auto& result = std::get<JobResult>(worked);
    if (std::holds_alternative<JobDone>(result)) {
        ++(queue_.finish(job) ? report.done : report.lost);
    } else if (const auto* again = std::get_if<JobRetryIn>(&result)) {
        ++(queue_.put_back(job, engine_.clock().now() + again->wait, std::nullopt) ? report.retried
                                                                                   : report.lost);
    } else {
        bury(job, std::get<JobDiscarded>(result).why, report);
    }
}

void Worker::failed(const queue::TakenJob& job, const std::string& error, WorkReport& report) {
    log::warning(
        "job_failed",
        {{"jid", job.raw.jid},
         {"kind", job.kind},
         {"detail", error},
         {"failures", std::to_string(job.failures + 1)}}
    );
    const auto next = core::decide_after_job_failure(
        options_.retry_layers, job.failures + 1, engine_.clock().now(), engine_.random().dice()
    );
    if (const auto* again = std::get_if<core::TryAgainAt>(&next)) {
        ++(queue_.put_back(job, again->at, error) ? report.retried : report.lost);
        return;
    }
    bury(job, error, report);
}

void Worker::bury(const queue::TakenJob& job, const std::string& why, WorkReport& report) {
    ++(queue_.bury(job, why) ? report.buried : report.lost);
}

void Worker::wake() {
    {
        const std::lock_guard lock{mutex_};
        ++wakes_;
    }
    woken_.notify_one();
}

void Worker::take_no_more() {
    const std::lock_guard lock{mutex_};
    refusing_ = true;
}

bool Worker::wait_idle(std::chrono::milliseconds limit) {
    std::unique_lock lock{mutex_};
    return idle_.wait_for(lock, limit, [this] { return rounds_ == 0; });
}

void Worker::stop_calls() {
    std::vector<std::stop_source> stops;
    {
        const std::lock_guard lock{mutex_};
        calls_stopped_ = true;  // Of those that begin later, too.
        for (const auto& [id, in_hand] : in_hand_) stops.push_back(in_hand.stop);
    }
    for (auto& stop : stops) stop.request_stop();  // Runs what others have hung on it.
}

bool Worker::begin_round() {
    const std::lock_guard lock{mutex_};
    if (refusing_) return false;
    ++rounds_;
    return true;
}

void Worker::end_round() {
    const std::lock_guard lock{mutex_};
    --rounds_;
    idle_.notify_all();
}

void Worker::run(const std::stop_token& stop) {
    std::uint64_t seen = 0;
    while (!stop.stop_requested() && begin_round()) {
        int worked = 0;
        try {
            const auto report = run_once(1);
            worked = report.done + report.retried + report.buried;
        } catch (const std::exception& failed_round) {
            log::warning(
                "service_round_failed", {{"service", "worker"}, {"detail", failed_round.what()}}
            );
        }
        end_round();
        if (worked > 0) continue;
        std::unique_lock lock{mutex_};
        woken_.wait_for(lock, stop, options_.poll, [&] { return wakes_ != seen; });
        seen = wakes_;
    }
}

void Worker::renew_in_hand() {
    std::vector<queue::TakenJob> jobs;
    std::vector<std::stop_source> late;
    {
        const std::lock_guard lock{mutex_};
        for (const auto& [id, in_hand] : in_hand_) {
            jobs.push_back(in_hand.job);
            if (engine_.clock().steady() - in_hand.since > options_.timeout)
                late.push_back(in_hand.stop);
        }
    }
    for (auto& stop : late) stop.request_stop();
    for (const auto& job : jobs) queue_.renew(job, options_.lease);
}

void Worker::run_upkeep(const std::stop_token& stop) {
    rounds(stop, engine_.clock(), options_.lease / 3, "rescuer", [this](TimePoint) {
        renew_in_hand();
        const int rescued = queue_.rescue(options_.lease);
        if (rescued > 0) log::info("rescuer", {{"rescued", std::to_string(rescued)}});
        return false;
    });
}

}  // namespace pawl::ops
