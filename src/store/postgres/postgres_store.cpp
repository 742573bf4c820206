#include "src/store/postgres/postgres_store.hpp"

#include "src/base/thread_name.hpp"
#include "src/core/backoff.hpp"
#include "src/store/postgres/connection.hpp"
#include "src/store/postgres/connection_shortage.hpp"
#include "src/store/postgres/durability.hpp"
#include "src/store/postgres/lookups.hpp"
#include "src/store/postgres/notices.hpp"
#include "src/store/postgres/shared_run.hpp"
#include "src/store/postgres/transaction.hpp"
#include "src/store/postgres/work_queue.hpp"
#include "store/postgres/session.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace pawl::postgres {

using store::Urgency;
using store::Work;

namespace {

constexpr std::chrono::milliseconds wait_first{50};
constexpr std::chrono::milliseconds wait_max{2'000};
constexpr std::chrono::milliseconds again_max{60};  // Between two runs of a work.

PostgresOptions checked(PostgresOptions options) {
    if (auto why = options.problem()) throw std::invalid_argument{"PostgresOptions: " + *why};
    return options;
}

// Each work gets a copy: threads must not share an exception.
void fail_all(WorkBatch& batch, const StoreError& why) {
    for (auto& work : batch.works) work->done(std::make_exception_ptr(StoreError{why}));
    for (auto& lookup : batch.lookups) lookup->done(std::make_exception_ptr(StoreError{why}), {});
}

void refuse(WorkBatch& batch) {
    fail_all(
        batch,
        {StoreError::Kind::unavailable,
         StoreError::Effect::none,
         "connect",
         "the connection to the database was lost, and no new one could be opened"}
    );
}

// What a lost connection has not executed may run on another one.
bool never_ran(const std::exception_ptr& failed) {
    return store::is_store_error(failed, [](const StoreError& error) {
        return error.kind() == StoreError::Kind::unavailable &&
               error.effect() != StoreError::Effect::in_doubt;
    });
}

}  // namespace

struct PostgresStore::Impl {
    Impl(
        PostgresOptions options_,
        base::Clock& clock_,
        base::Random& random_,
        base::OnWarning on_warning_
    )
        : options{std::move(options_)},
          clock{clock_},
          random{random_},
          on_warning{std::move(on_warning_)},
          line{{.waiting_max = options.waiting_max, .sharing = options.sharing}, clock_},
          connected{1},
          shortfall{options.connections} {
        // Reports connection errors at once.
        start(std::make_unique<Connection>(options, clock));
    }

    using Connected = std::unique_ptr<Connection>;
    void start(Connected first);
    void loop(Connected connection);
    Connected open_connection();
    TransactionParts parts_of(Connection& connection);
    void run(Connected& connection, WorkBatch& batch);
    void run_one(Connected& connection, WorkBatch& batch);
    std::exception_ptr run_once(Connection& connection, WorkBatch::Form form, Work& work);
    void run_shared(Connected& connection, WorkBatch& batch);
    void run_lookups(Connected& connection, WorkBatch& batch);
    void count(std::uint64_t works, bool committed);
    void drop_if_broken(Connected& connection);
    void renew_if_gone(Connected& connection);
    void on_refused(const StoreError& why);
    void refuse_all(const StoreError& why);
    void say(const std::optional<base::Warning>& warning) const;
    std::exception_ptr why_unreachable() const;
    std::exception_ptr refusal(WorkQueue::Put put) const;
    bool wait(std::chrono::milliseconds longest);

    const PostgresOptions options;
    base::Clock& clock;
    base::Random& random;
    const base::OnWarning on_warning;
    WorkQueue line;

    mutable std::mutex mutex;
    std::condition_variable ended;  // Notified on stop, for threads that pause.
    bool stopping{false};
    int connected{0};  // Threads that have a connection.
    ConnectionShortage shortfall;
    // Why the last connection failed, while no thread has one.
    std::optional<StoreError> unreachable;
    store::StoreStats stats;
    std::atomic<std::uint64_t> busy{};  // Connections.
    std::mutex joining;
    std::vector<std::thread> threads;
    Notices notices{options, clock, random};
};

void PostgresStore::Impl::start(Connected first) {
    if (on_warning) say(check_durability(*first, options.connect_timeout));
    const auto add = [this](Connected connection) {
        threads.emplace_back([this, connection = std::move(connection)]() mutable {
            base::name_this_thread("pawl-postgres");
            loop(std::move(connection));
        });
    };
    add(std::move(first));
    for (int i = 1; i < options.connections; ++i) add(nullptr);
}

// A thread without a connection takes no work.
void PostgresStore::Impl::loop(Connected connection) {
    auto pause = wait_first;
    for (;;) {
        if (connection == nullptr) connection = open_connection();
        if (connection == nullptr) {
            if (!wait(pause)) return;
            pause = std::min(pause * 2, wait_max);
            continue;
        }
        pause = wait_first;
        auto batch = line.take();
        if (batch.empty()) break;
        ++busy;
        renew_if_gone(connection);
        if (connection != nullptr)
            run(connection, batch);
        else
            refuse(batch);
        line.ended(batch);
        --busy;
    }
}

PostgresStore::Impl::Connected PostgresStore::Impl::open_connection() {
    if (line.is_stopping()) return nullptr;
    try {
        auto made = std::make_unique<Connection>(options, clock);
        std::optional<base::Warning> warning;
        {
            const std::lock_guard guard{mutex};
            unreachable.reset();
            warning = shortfall.opened(++connected);
        }
        say(warning);
        return made;
    } catch (const StoreError& why) {
        on_refused(why);
        return nullptr;
    }
}

// If no thread has a connection, the waiting works fail now, and their callers may retry.
void PostgresStore::Impl::on_refused(const StoreError& why) {
    std::optional<base::Warning> warning;
    bool any = false;
    {
        const std::lock_guard guard{mutex};
        any = connected > 0;
        if (!any) unreachable = why;
        warning = shortfall.refused(connected, why.what(), clock.steady());
    }
    say(warning);
    if (!any) refuse_all(why);
}

void PostgresStore::Impl::say(const std::optional<base::Warning>& warning) const {
    if (warning && on_warning) on_warning(*warning);
}

void PostgresStore::Impl::refuse_all(const StoreError& why) {
    auto batch = line.take_all();
    fail_all(batch, why);
}

void PostgresStore::Impl::drop_if_broken(Connected& connection) {
    if (connection == nullptr || connection->usable()) return;
    connection = nullptr;
    const std::lock_guard guard{mutex};
    --connected;
}

// A connection may have died while idle, as after a restart of the database. If a work is one
// packet, sending it there would leave its COMMIT in doubt.
void PostgresStore::Impl::renew_if_gone(Connected& connection) {
    if (connection->is_still_there()) return;
    drop_if_broken(connection);
    connection = open_connection();
}

// False when the store stops.
bool PostgresStore::Impl::wait(std::chrono::milliseconds longest) {
    const auto part = core::scaled(longest, 0.5 + random.dice() / 2);
    std::unique_lock guard{mutex};
    return !ended.wait_for(guard, part, [this] { return stopping; });
}

TransactionParts PostgresStore::Impl::parts_of(Connection& connection) {
    return {connection, options, clock, [this](int n) {
                return wait(std::min(std::chrono::milliseconds{2 << std::min(n, 5)}, again_max));
            }};
}

void PostgresStore::Impl::count(std::uint64_t works, bool committed) {
    const std::lock_guard guard{mutex};
    stats.works += works;
    stats.commits += committed ? 1 : 0;
    stats.largest_batch = std::max(stats.largest_batch, works);
}

void PostgresStore::Impl::run(Connected& connection, WorkBatch& batch) {
    switch (batch.form) {
        case WorkBatch::Form::lookups:
            return run_lookups(connection, batch);
        case WorkBatch::Form::shared:
            return run_shared(connection, batch);
        case WorkBatch::Form::write:
        case WorkBatch::Form::read:
            return run_one(connection, batch);
    }
}

std::exception_ptr PostgresStore::Impl::run_once(
    Connection& connection, WorkBatch::Form form, Work& work
) {
    if (form == WorkBatch::Form::read) return run_read(parts_of(connection), work);
    return run_write(parts_of(connection), work);
}

// If the connection dies before executing the work, runs it once more on a new one.
void PostgresStore::Impl::run_one(Connected& connection, WorkBatch& batch) {
    auto& work = *batch.works.front();
    auto failed = run_once(*connection, batch.form, work);
    drop_if_broken(connection);
    if (connection == nullptr && never_ran(failed)) {
        connection = open_connection();
        if (connection != nullptr) failed = run_once(*connection, batch.form, work);
        drop_if_broken(connection);
    }
    count(1, !failed && batch.form != WorkBatch::Form::read);
    work.done(std::move(failed));
    if (connection != nullptr && batch.form == WorkBatch::Form::read) end_read(*connection);
}

// Works of a transaction that broke up return to the queue, for any connection.
void PostgresStore::Impl::run_shared(Connected& connection, WorkBatch& batch) {
    // While this one waits for the disk, another connection may share.
    auto run = postgres::run_shared(parts_of(*connection), batch.works, batch.in_savepoint, [&] {
        line.ended(batch);
    });
    drop_if_broken(connection);
    for (const auto* kind : run.apart) line.keep_apart(kind);
    for (const auto* kind : run.threw) line.threw(kind);
    using Split = SharedRun::Split;
    if (run.split != Split::no) {
        if (run.split == Split::conflicted && batch.works.size() > 1) line.shared_broke_up();
        line.reschedule_alone(std::move(batch.works));
        // No thread with a connection may be left to take the work.
        if (connection == nullptr) connection = open_connection();
        return;
    }
    line.shared_went_well();
    const bool any = std::find(run.failed.begin(), run.failed.end(), nullptr) != run.failed.end();
    count(batch.works.size(), connection != nullptr && any);
    for (std::size_t i = 0; i < batch.works.size(); ++i)
        batch.works[i]->done(std::move(run.failed[i]));
}

void PostgresStore::Impl::run_lookups(Connected& connection, WorkBatch& batch) {
    auto failed = postgres::run_lookups(parts_of(*connection), batch.lookups);
    drop_if_broken(connection);
    if (failed && connection == nullptr) connection = open_connection();
    if (failed && connection != nullptr)
        failed = postgres::run_lookups(parts_of(*connection), batch.lookups);
    drop_if_broken(connection);
    if (batch.lookups.empty()) return;
    try {
        std::rethrow_exception(std::exchange(failed, nullptr));
    } catch (const StoreError& why) {
        fail_all(batch, why);
    }
}

std::exception_ptr PostgresStore::Impl::why_unreachable() const {
    const std::lock_guard guard{mutex};
    return unreachable ? std::make_exception_ptr(*unreachable) : nullptr;
}

// Null: the work was queued.
std::exception_ptr PostgresStore::Impl::refusal(WorkQueue::Put put) const {
    if (put == WorkQueue::Put::taken) return nullptr;
    if (put == WorkQueue::Put::too_many) return store::too_many_wait(options.waiting_max);
    return store::stopped();
}

PostgresStore::PostgresStore(
    PostgresOptions options, base::Clock& clock, base::Random& random, base::OnWarning on_warning
)
    : impl_{std::make_unique<Impl>(
          checked(std::move(options)), clock, random, std::move(on_warning)
      )} {}

PostgresStore::~PostgresStore() {
    stop();
}

void PostgresStore::write(std::unique_ptr<Work> work, Urgency urgency) {
    auto refused = impl_->why_unreachable();
    if (!refused) refused = impl_->refusal(impl_->line.write(work, urgency));
    if (refused) work->done(std::move(refused));
}

void PostgresStore::write_all(std::vector<std::unique_ptr<Work>> works) {
    if (const auto refused = impl_->why_unreachable()) {
        for (auto& work : works) work->done(refused);
        return;
    }
    const auto put = impl_->line.write_all(works);
    for (std::size_t i = 0; i < works.size(); ++i)
        if (auto refused = impl_->refusal(put[i])) works[i]->done(std::move(refused));
}

void PostgresStore::read(std::unique_ptr<Work> work) {
    auto refused = impl_->why_unreachable();
    if (!refused) refused = impl_->refusal(impl_->line.read(work));
    if (refused) work->done(std::move(refused));
}

void PostgresStore::lookup(std::unique_ptr<store::Lookup> lookup) {
    auto refused = impl_->why_unreachable();
    if (!refused) refused = impl_->refusal(impl_->line.lookup(lookup));
    if (refused) lookup->done(std::move(refused), {});
}

std::optional<store::PreallocationStatements> PostgresStore::preallocation() const {
    return store::PreallocationStatements{
        &sql::postgres::preallocate_key_ids, &sql::postgres::claim_key_under_id};
}

store::StoreStats PostgresStore::stats() const {
    store::StoreStats stats;
    {
        const std::lock_guard guard{impl_->mutex};
        stats = impl_->stats;
    }
    stats.waiting = impl_->line.waiting();
    stats.connections_busy = impl_->busy;
    stats.connections_max = static_cast<std::uint64_t>(impl_->options.connections);
    return stats;
}

void PostgresStore::notify(std::string_view hash) {
    impl_->notices.notify(hash);
}

std::unique_ptr<store::Listening> PostgresStore::listen(store::OnNotice on_notice) {
    return impl_->notices.listen(std::move(on_notice));
}

std::optional<std::int64_t> PostgresStore::session_lock() {
    return impl_->notices.session_lock();
}

void PostgresStore::stop() {
    impl_->notices.stop();
    {
        const std::lock_guard guard{impl_->mutex};
        impl_->stopping = true;
    }
    impl_->line.stop();
    impl_->ended.notify_all();
    {
        const std::lock_guard guard{impl_->joining};
        for (auto& thread : impl_->threads)
            if (thread.joinable()) thread.join();
    }
    // What is left if no thread had a connection at the end.
    impl_->refuse_all(StoreError{
        StoreError::Kind::unavailable, StoreError::Effect::none, "", "the store is stopping"});
}

}  // namespace pawl::postgres
