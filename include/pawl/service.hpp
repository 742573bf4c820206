#pragma once

#include <pawl/database.hpp>
#include <pawl/detail/erased_job.hpp>
#include <pawl/detail/erased_operation.hpp>
#include <pawl/operation.hpp>
#include <pawl/provider_event.hpp>
#include <pawl/query.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace pawl {

namespace engine {
class Engine;
}

namespace detail {
template <class T>
concept NoPart = !Operation<T> && !JobHandler<T>;
}

// How often jobs of a queue may begin, over all servers: after a quiet time `burst` at once, then
// `per_second` of them, one after the other. 0: no limit.
struct QueueRate {
    double per_second{0};
    int burst{1};
};

// How this server works the jobs of one queue. A job's Args name its queue (pawl/job.hpp).
struct QueueOptions {
    std::string name{};
    // Concurrent first tries of jobs. If there are jobs of several kinds, one kind has at most
    // three quarters of these workers, so that a receiver that hangs does not stop the others. 0:
    // this server works none of the queue.
    int workers{16};
    // The waits of a failed job, in turn; after the last it is dead. At most 20.
    std::vector<std::chrono::milliseconds> retry_layers{default_retry_layers()};
    // The workers of each retry layer, besides those of first tries. Empty: half as many in all, at
    // least one each.
    std::vector<int> retry_workers{};
    // Limits over all servers, which must all declare the same; Kafka has none, and Redis no
    // partition_max. docs/adr/0030 says how, and what they cost.
    int running_max{0};  // Jobs that run at once; 0: any number. Retries have half of it.
    // Jobs of one partition that run at once (Args::partition(): a tenant, an account); 0: any
    // number. With such a limit the partitions are served in turn.
    int partition_max{0};
    QueueRate rate{};

    std::optional<std::string> problem() const;
    std::vector<int> layer_workers() const;  // As retry_workers; none without workers.
};

struct ServiceOptions {
    std::chrono::milliseconds lease{30s};  // How long a dead server may hold a key.
    // After the end of the lease: time for the client to retry itself. The keys of a server that
    // has died do not wait for it.
    std::chrono::milliseconds complete_after{5s};
    // How long a decision about a request in doubt may be taken back.
    std::chrono::milliseconds settle_after{30s};
    std::chrono::hours keep_keys{72};           // A bug deployed on Friday can be fixed on Monday.
    std::chrono::hours keep_expired{400 * 24};  // How long an expired key still answers 410.
    std::chrono::milliseconds phase_deadline{5s};  // Must be below a third of the lease.
    int calls_max{1'024};                          // Concurrent foreign calls; each holds a thread.
    // The longest that a foreign call takes: its clients' time-outs.
    std::chrono::milliseconds call_timeout{30s};
    // How long a stop waits for running requests. nullopt: as long as a call may take, plus 10 s to
    // record its result. A shorter time leaves calls in doubt at each deploy.
    std::optional<std::chrono::milliseconds> drain{};
    // These three are for the queue "default" and for queues that `queues` does not name: see
    // QueueOptions.
    int workers{16};
    std::vector<std::chrono::milliseconds> retry_layers{default_retry_layers()};
    std::vector<int> retry_workers{};
    std::vector<QueueOptions> queues{};
    // Where staged jobs go: "embedded", a table of the database; redis://HOST[:PORT][/DB], in
    // Sidekiq's format; or kafka://HOST[:PORT][,HOST...]. docs/howto/queues.md.
    std::string queue{"embedded"};
    std::chrono::milliseconds job_lease{60s};
    std::chrono::milliseconds job_timeout{50s};
    // Its first line is the secret, at least 32 characters; empty: made in the database.
    std::string secret_file{};

    // A file outside the database that records how far the database had come, so that a start
    // detects a database that was restored from a backup (PAWL0017, docs/howto/backup.md). Empty:
    // FILE.mark beside a SQLite file, none for PostgreSQL.
    std::string mark_file{};
    // How long clients may repeat requests that a restore has lost; 0: as long as keys are kept.
    std::chrono::hours repeats_for{0};

    // Names the wrong option, the value and the limit.
    std::optional<std::string> problem() const;
    // Those of `queues`, or of the three above for a queue that is not named there.
    QueueOptions queue_options(std::string_view name) const;
    std::chrono::milliseconds drain_time() const { return drain.value_or(call_timeout + 10s); }
};

// When a job is staged again and again: see Service::every().
struct PeriodicOptions {
    // Of its schedule in the database, 1 to 100 bytes; empty: the kind of the job. A service that
    // stages one kind on two schedules names them.
    std::string name{};
    // Of the system's database (the package tzdata), such as "Europe/Berlin".
    std::string time_zone{"UTC"};
    // What happens to ticks at which no server ran: one job for all of them at the next start, or
    // none if they are more than a minute old.
    bool skip_missed{false};
};

// How a request that did not come over HTTP ended: see Service::run().
//
// The final response. Each repeat under the key gets the same one.
struct RunAnswer {
    Response response{};
    bool replayed{};  // Of an earlier request with this key.
};
// No final response; over HTTP it would be this problem (docs/http.md).
struct RunProblem {
    std::string type{};    // "in-progress", "key-reused", "needs-attention", ...
    int status{};          // For an adapter to an HTTP framework.
    std::string detail{};  // What is wrong with the request or its key; empty otherwise.
    bool retry{};          // The same request, with the same key, may succeed later.
    std::chrono::seconds retry_after{};
};
using RunResult = std::variant<RunAnswer, RunProblem>;

// Code of the application that runs now: see Service::running_handlers().
struct RunningHandler {
    // "transaction": a phase, a keeper, a handler with a Tx; "query": a handler with a Snapshot;
    // "job": a handler with a Call; "call": the foreign call or inquiry of an operation.
    std::string where{};
    std::string name{};     // Of the operation or query; of a job its kind.
    std::string step{};     // The recovery point from which a step of an operation runs.
    std::string subject{};  // "job 0123456789abcdef01234567", "key 17", or empty.
    std::string thread{};   // Its name, as debuggers and `top -H` show it.
    std::chrono::milliseconds ran{};
    std::chrono::milliseconds limit{};  // The phase's deadline, or the time-out of the call.
};

// An application: its operations and job handlers on one database, with the services that finish
// dropped requests (completer), remove old keys (reaper), and run the staged jobs (workers).
class Service {
public:
    template <Operation Op>
    using RequestOf = typename Op::Flow::First::Request;

    // The database outlives the service. Throws StoreError; std::invalid_argument for the options.
    explicit Service(Database& database, const ServiceOptions& options = {});
    // Stops, within options().drain_time() unless stop() was called before; then waits for all
    // calls.
    ~Service();

    // Call before start(). Throws std::logic_error if the name or the kind of job is already taken.
    template <Operation Op>
    void add(Op op) {
        const auto& form =
            add_operation(detail::erase_operation(std::make_shared<Op>(std::move(op))));
        if constexpr (detail::JobOperation<Op>) {
            using Args = typename Op::Flow::First::Request;
            add_job_operation(detail::kind_of_job<Args>(), form);
        }
    }
    template <JobHandler H>
    void add(H handler) {
        add_job(detail::erase_job(std::make_shared<H>(std::move(handler))));
    }
    // Deliberately unusable: it gives the compile error a readable message.
    template <detail::NoPart T>
    void add(T) {
        constexpr bool is_operation = requires {
            typename T::Flow;
        };
        if constexpr (is_operation) detail::explain_operation<T>();
        static_assert(
            is_operation || detail::never<T>,
            "pawl: a service takes operations, which have a name and a Flow, and job handlers, "
            "which have one member function JobResult work(Tx& or Call& or KeyedCall&, const "
            "Job<Args>&)"
        );
    }

    // Stages `job` at each tick of `cron`, the five fields of a crontab line or "@daily" and the
    // like; `job` is a job's Args, or a function that makes them from the tick's time. Exactly one
    // job is staged for each tick, by one of the servers of the database, by the database's clock.
    // At a change of the clock, times that are skipped are due right after it, and times that are
    // repeated are due once; entries with * as minute or hour follow the clock on the wall.
    // Call before start(). Throws std::invalid_argument for the expression or the options, and
    // std::logic_error if the name is already taken. docs/howto/queues.md.
    template <class J>
    void every(std::string_view cron, J job, const PeriodicOptions& options = {}) {
        if constexpr (JobArgs<J>) {
            every(
                cron, [job = std::move(job)](TimePoint) { return job; }, options
            );
        } else {
            using Args = std::invoke_result_t<const J&, TimePoint>;
            add_periodic(
                cron,
                options,
                Args::kind,
                [make = std::move(job)](Tx& tx, TimePoint tick) { tx.stage(make(tick)); }
            );
        }
    }

    // A setting of the application that all servers of a database must have in common, such as the
    // provider that is called: a server that has another value is logged with both (docs/howto/
    // deploys.md). The name of a call's provider, as call_target() has it, lets a server with
    // another provider leave that call to this one. Of a secret only a short digest is stored. Call
    // before start().
    void add_setting(std::string name, std::string value);
    void add_secret_setting(std::string name, std::string_view secret);

    // Runs an operation without HTTP, for gRPC, consumers of a queue, batch programs and tests. The
    // contract is the same: the claim of the key, the replay, the lease, the completer. A key that
    // was used over HTTP is key-reused here, and the other way around. `key`: 1 to 255 visible
    // ASCII characters without `" , ; \`, the same for each repeat of the request, so saved or
    // derived, never made anew; empty for an operation whose key is optional or none. Blocks until
    // the end, so no step may call it. Throws std::logic_error if the operation was not added.
    template <Operation Op>
    RunResult run(const Principal& principal, std::string_view key, const RequestOf<Op>& request) {
        return run_erased(Op::name, principal, key, detail::checked_request(request));
    }
    // The same without blocking: `on_end` is called once, from any thread, and must be quick.
    template <Operation Op>
    void run(
        const Principal& principal,
        std::string_view key,
        const RequestOf<Op>& request,
        std::function<void(RunResult)> on_end
    ) {
        start_erased(Op::name, principal, key, detail::checked_request(request), std::move(on_end));
    }
    // A request as its sender wrote it: one JSON object with exactly the fields of the request.
    // Another text is request-invalid, and `detail` says where.
    template <Operation Op>
    RunResult run_json(const Principal& principal, std::string_view key, std::string_view request) {
        return run_erased(Op::name, principal, key, detail::request_of<RequestOf<Op>>(request));
    }
    template <Operation Op>
    void run_json(
        const Principal& principal,
        std::string_view key,
        std::string_view request,
        std::function<void(RunResult)> on_end
    ) {
        auto checked = detail::request_of<RequestOf<Op>>(request);
        start_erased(Op::name, principal, key, std::move(checked), std::move(on_end));
    }

    // Settles a call in doubt as happened, if the request is on the attention list, nobody has
    // decided about it, and its operation's settled_by() proves it by the event. The decision is
    // recorded like a person's, by "webhook PROVIDER ID": it can be undone for `settle_after`, then
    // a completer carries it out. False: no such request; one that is at work gets its own answer.
    // For a job of the event, in its transaction. Throws StoreError.
    bool settle_by(Tx& tx, const ProviderEvent& event);

    // Starts completer, reaper, scheduler and workers. Keys at recovery points that no operation
    // knows are counted and logged (PAWL0007); they wait for a binary that knows them.
    void start();
    // Refuses new requests and waits for running ones; false if that takes longer than `drain`, or
    // if code of the application is beyond its limit. Returns within `drain` and a second, whatever
    // hangs. After false, running_handlers() says what is left, and on which thread. A thread can't
    // be ended, and the destructor waits for all: log what is left, and end the process by _exit().
    // Its leases end by themselves, and the next start, or another server, takes up what is left.
    bool stop(std::chrono::milliseconds drain);
    // What of the application runs now in transactions and calls, the oldest first. Thread-safe;
    // never waits for the database.
    std::vector<RunningHandler> running_handlers() const;

    const ServiceOptions& options() const;
    Database& database();  // That it was made with.
    // A secret for the application's own use, 64 hex digits: derived from the installation's newest
    // secret and `purpose`, so that all servers of the database have the same. Changes with that
    // secret.
    std::string secret_for(std::string_view purpose) const;
    engine::Engine& engine();  // For the library itself.
    struct Impl;
    Impl& impl() { return *impl_; }

private:
    const detail::ErasedOperation& add_operation(detail::ErasedOperation form);
    void add_job(detail::ErasedJob form);
    void add_job_operation(const detail::KindOfJob& settings, const detail::ErasedOperation& form);
    using CheckedRequest = std::variant<detail::ErasedValue, DecodeProblem>;
    RunResult run_erased(
        std::string_view operation,
        const Principal& principal,
        std::string_view key,
        CheckedRequest request
    );
    void start_erased(
        std::string_view operation,
        const Principal& principal,
        std::string_view key,
        CheckedRequest request,
        std::function<void(RunResult)> on_end
    );
    void add_periodic(
        std::string_view cron,
        const PeriodicOptions& options,
        std::string_view kind,
        std::function<void(Tx& tx, TimePoint tick)> stage
    );

    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl
