#pragma once

#include <pawl/database.hpp>
#include <pawl/detail/form.hpp>
#include <pawl/detail/job_form.hpp>
#include <pawl/operation.hpp>
#include <pawl/query.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pawl {

namespace engine {
class Engine;
}

namespace detail {
template <class T>
concept NoPart = !Operation<T> && !JobHandler<T>;
}

struct ServiceOptions {
    std::chrono::milliseconds lease{30s};  // How long a key is held by a server that may be dead.
    std::chrono::milliseconds complete_after{
        5s};  // After the end of the lease: time for the client to retry itself.
    // How long people may take back what they decided of a request in doubt.
    std::chrono::milliseconds settle_after{30s};
    std::chrono::hours keep_keys{72};           // A bug deployed on Friday can be fixed on Monday.
    std::chrono::hours keep_expired{400 * 24};  // How long an expired key still answers 410.
    std::chrono::milliseconds phase_deadline{5s};  // Under a third of the lease.
    int calls_max{1'024};                          // Foreign calls at once; each holds a thread.
    // The longest that a foreign call of an operation takes: the time-outs of its clients.
    std::chrono::milliseconds call_timeout{30s};
    // How long a stop waits for requests at work. Not set: as long as a call may take, and 10 s to
    // record its result. A shorter one leaves calls in doubt at each deploy.
    std::optional<std::chrono::milliseconds> drain{};
    int workers{4};  // Jobs at once.
    // Where staged jobs go: "embedded", a table of the database itself; redis://HOST[:PORT][/DB],
    // in Sidekiq's format; or kafka://HOST[:PORT][,HOST...]. docs/howto/queues.md.
    std::string queue{"embedded"};
    std::chrono::milliseconds job_lease{60s};
    std::chrono::milliseconds job_timeout{50s};
    // A failed job waits in each of these in turn, then it is dead.
    std::vector<std::chrono::milliseconds> retry_layers{default_retry_layers()};
    std::string secret_file{};  // First line: the secret, at least 32 characters; else one made in
                                // the database.

    // A file outside the database that says how far it had come, so that a start notices a database
    // that was restored from a backup (PAWL0017, docs/howto/backup.md). Empty: FILE.mark beside a
    // SQLite file, and none for PostgreSQL.
    std::string mark_file{};
    // How long clients may repeat requests that a restore has lost; 0: as long as keys are kept.
    std::chrono::hours repeats_for{0};

    // What is wrong with them: names the option, the value and the limit.
    std::optional<std::string> problem() const;
    std::chrono::milliseconds drain_time() const { return drain.value_or(call_timeout + 10s); }
};

// An application: its operations and job handlers on one database, with the services that finish
// what was dropped (completer), remove what is old (reaper), and work the staged jobs.
class Service {
public:
    // The database outlives the service. Throws StoreError; std::invalid_argument for options.
    explicit Service(Database& database, const ServiceOptions& options = {});
    // Stops, with options().drain_time() if stop() was not called before; then waits for calls that
    // hang, however long.
    ~Service();

    // Before start(). Throws std::logic_error if another has the name or the kind of job.
    template <Operation Op>
    void add(Op op) {
        const auto& form = add_operation(detail::form_of<Op>(std::make_shared<Op>(std::move(op))));
        if constexpr (detail::JobOperation<Op>)
            add_job_operation(Op::Flow::First::Request::kind, form);
    }
    template <JobHandler H>
    void add(H handler) {
        add_job(detail::job_form_of<H>(std::make_shared<H>(std::move(handler))));
    }
    // Of no use, but for its sentence.
    template <detail::NoPart T>
    void add(T) {
        static_assert(
            detail::never<T>,
            "pawl: a service takes operations, which have a name and a Flow, and job handlers, "
            "which have one member function JobResult work(Tx& or Call& or KeyedCall&, const "
            "Job<Args>&)"
        );
    }

    // Starts completer, reaper and workers. On a database with keys at recovery points that no
    // operation knows they are counted and logged (PAWL0007); those keys wait for a binary that
    // knows them.
    void start();
    // Refuses new requests and lets what is in hand end; false if that takes longer than `drain`.
    // What is left is taken up by the next start.
    bool stop(std::chrono::milliseconds drain);

    const ServiceOptions& options() const;
    // A secret of the application's own, 64 hex digits: made from the installation's newest one and
    // `purpose`, so that all servers on the database have the same. Another secret file, another
    // one.
    std::string secret_for(std::string_view purpose) const;
    engine::Engine& engine();  // The library's own.
    struct Impl;
    Impl& impl() { return *impl_; }

private:
    const detail::OperationForm& add_operation(detail::OperationForm form);
    void add_job(detail::JobForm form);
    void add_job_operation(std::string_view kind, const detail::OperationForm& form);

    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl
