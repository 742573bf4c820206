#include "src/store/sqlite/sqlite_store.hpp"

#include "src/core/fault.hpp"
#include "src/core/thread_name.hpp"
#include "src/store/sqlite/connection.hpp"
#include "src/store/sqlite/owner_lock.hpp"
#include "src/store/sqlite/sqlite_session.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace pawl::sqlite {

using store::Urgency;
using store::Work;

namespace {

using Line = std::deque<std::unique_ptr<Work>>;

std::exception_ptr stopped() {
    return std::make_exception_ptr(StoreError{
        StoreError::Kind::unavailable, StoreError::Effect::none, "", "the store is stopping"});
}

std::exception_ptr undone(const StoreError& cause) {
    return std::make_exception_ptr(StoreError{
        cause.passing() ? cause.kind() : StoreError::Kind::unavailable, StoreError::Effect::rolled_back,
        cause.statement(), std::string{"the transaction was undone: "} + cause.what()});
}

}  // namespace

struct SqliteStore::Impl {
    Impl(SqliteOptions options_, core::Clock& clock_)
        : options{std::move(options_)},
          clock{clock_},
          memory{options.path == ":memory:"},
          lock{options.owner && !memory ? std::make_unique<OwnerLock>(options.path) : nullptr},
          writer{options.path, Connection::Mode::writer, options.busy_timeout} {
        if (!memory)
            for (int i = 0; i < options.readers; ++i) readers.push_back(open_reader());
        thread = std::thread{[this] {
            core::name_this_thread("pawl-writer");
            loop();
        }};
    }

    std::unique_ptr<Connection> open_reader() const {
        return std::make_unique<Connection>(options.path, Connection::Mode::reader, options.busy_timeout);
    }

    void loop();
    bool take(std::vector<std::unique_ptr<Work>>& batch);
    void run_batch(std::vector<std::unique_ptr<Work>>& batch);
    std::exception_ptr run_one(Work& work);
    std::exception_ptr commit();

    const SqliteOptions options;
    core::Clock& clock;
    const bool memory;
    std::unique_ptr<OwnerLock> lock;
    std::mutex writing;  // Held over a batch; for ":memory:" also by readers, who share the connection.
    Connection writer;

    std::mutex mutex;
    std::condition_variable waiting;
    Line first;
    Line normal;
    bool stopping{false};
    store::StoreStats stats;

    std::mutex reading;
    std::condition_variable reader_free;
    std::vector<std::unique_ptr<Connection>> readers;
    std::thread thread;
};

bool SqliteStore::Impl::take(std::vector<std::unique_ptr<Work>>& batch) {
    std::unique_lock guard{mutex};
    waiting.wait(guard, [this] { return stopping || !first.empty() || !normal.empty(); });
    for (Line* line : {&first, &normal}) {
        while (!line->empty() && batch.size() < options.batch_max) {
            batch.push_back(std::move(line->front()));
            line->pop_front();
        }
    }
    return !batch.empty();  // Nothing, and stopping: the end.
}

// Takes all that waits: no timer, the batch sizes itself.
void SqliteStore::Impl::loop() {
    std::vector<std::unique_ptr<Work>> batch;
    while (take(batch)) {
        run_batch(batch);
        batch.clear();
    }
}

void SqliteStore::Impl::run_batch(std::vector<std::unique_ptr<Work>>& batch) {
    std::vector<std::exception_ptr> failed(batch.size());
    std::exception_ptr all;
    {
        const std::lock_guard guard{writing};
        try {
            writer.control("BEGIN IMMEDIATE");
        } catch (const StoreError& error) {
            all = undone(error);
        }
        for (std::size_t i = 0; i < batch.size() && !all; ++i) {
            failed[i] = run_one(*batch[i]);
            // Full disk, I/O error: SQLite has undone the whole transaction. Nobody was answered, so all fail.
            if (!writer.in_transaction())
                all = undone({StoreError::Kind::unavailable, StoreError::Effect::rolled_back, "", "it was ended early"});
            if (all && failed[i]) all = failed[i];
        }
        if (!all) all = commit();
        if (all && writer.in_transaction()) {
            try {
                writer.control("ROLLBACK");
            } catch (const StoreError&) {
                // The next BEGIN says what is wrong.
            }
        }
    }
    {
        const std::lock_guard guard{mutex};
        ++stats.commits;
        stats.works += batch.size();
        stats.largest_batch = std::max<std::uint64_t>(stats.largest_batch, batch.size());
    }
    for (std::size_t i = 0; i < batch.size(); ++i) batch[i]->done(failed[i] ? failed[i] : all);
}

// In a savepoint of its own: what fails is undone alone, and its neighbours in the batch live on.
std::exception_ptr SqliteStore::Impl::run_one(Work& work) {
    std::exception_ptr failed;
    try {
        writer.control("SAVEPOINT work");
        writer.set_deadline(work.deadline());
        SqliteSession session{writer, clock, SqliteSession::Mode::write};
        work.run(session);
        if (writer.deadline_passed())
            throw StoreError{StoreError::Kind::deadline, StoreError::Effect::rolled_back, "", "the phase took longer than its deadline"};
        writer.clear_deadline();
        if (writer.in_transaction()) writer.control("RELEASE work");
        return nullptr;
    } catch (...) {
        failed = std::current_exception();
    }
    writer.clear_deadline();
    try {
        if (writer.in_transaction()) {
            writer.control("ROLLBACK TO work");
            writer.control("RELEASE work");
        }
    } catch (...) {
        // The batch is rolled back as a whole: in_transaction() or the COMMIT will say so.
    }
    return failed;
}

// A COMMIT that fails is rolled back in this process, and nobody was answered. Its frames may still lie in the WAL
// behind what this process knows of: the next writer overwrites them, but a crash before that may find and keep them.
// So the effect is in doubt; the engine treats every key that it finds as it is, which is right either way.
std::exception_ptr SqliteStore::Impl::commit() {
    try {
        PAWL_FAULT("store.commit.before");
        writer.control("COMMIT");
        PAWL_FAULT("store.commit.after");
        return nullptr;
    } catch (const StoreError& error) {
        return std::make_exception_ptr(StoreError{
            error.passing() ? error.kind() : StoreError::Kind::unavailable, StoreError::Effect::in_doubt, "commit",
            error.what()});
    } catch (...) {
        return std::make_exception_ptr(StoreError{
            StoreError::Kind::unavailable, StoreError::Effect::in_doubt, "commit", "the commit was cut off"});
    }
}

std::optional<std::string> SqliteOptions::problem() const {
    if (path.empty()) return "database: the path is empty";
    if (waiting_max < 1) return "waiting_max is 0: at least 1";
    if (batch_max < 1) return "batch_max is 0: at least 1";
    if (readers < 1 || readers > 64) return "readers is " + std::to_string(readers) + ": 1 to 64";
    return std::nullopt;
}

SqliteStore::SqliteStore(SqliteOptions options, core::Clock& clock)
    : impl_{std::make_unique<Impl>(std::move(options), clock)} {}

SqliteStore::~SqliteStore() { stop(); }

void SqliteStore::write(std::unique_ptr<Work> work, Urgency urgency) {
    std::exception_ptr refused;
    {
        const std::lock_guard guard{impl_->mutex};
        if (impl_->stopping) {
            refused = stopped();
        } else if (impl_->first.size() + impl_->normal.size() >= impl_->options.waiting_max) {
            refused = std::make_exception_ptr(StoreError{
                StoreError::Kind::busy, StoreError::Effect::none, "",
                "more than " + std::to_string(impl_->options.waiting_max) + " transactions wait already"});
        } else {
            const bool idle = impl_->first.empty() && impl_->normal.empty();
            (urgency == Urgency::first ? impl_->first : impl_->normal).push_back(std::move(work));
            if (idle) impl_->waiting.notify_one();
        }
    }
    if (refused) work->done(refused);
}

void SqliteStore::read(std::unique_ptr<Work> work) {
    std::unique_ptr<Connection> reader;
    std::unique_lock<std::mutex> shared;
    if (impl_->memory) {
        shared = std::unique_lock{impl_->writing};
    } else {
        std::unique_lock guard{impl_->reading};
        impl_->reader_free.wait(guard, [this] { return !impl_->readers.empty(); });
        reader = std::move(impl_->readers.back());
        impl_->readers.pop_back();
    }
    Connection& connection = reader ? *reader : impl_->writer;
    std::exception_ptr failed;
    try {
        connection.control("BEGIN");
        connection.set_deadline(work->deadline());
        SqliteSession session{connection, impl_->clock, SqliteSession::Mode::read};
        work->run(session);
    } catch (...) {
        failed = std::current_exception();
    }
    connection.clear_deadline();
    try {
        if (connection.in_transaction()) connection.control("ROLLBACK");
    } catch (...) {
        if (!failed) failed = std::current_exception();
    }
    if (reader) {
        const std::lock_guard guard{impl_->reading};
        impl_->readers.push_back(std::move(reader));
        impl_->reader_free.notify_one();
    }
    if (shared.owns_lock()) shared.unlock();
    work->done(failed);
}

std::optional<std::string_view> SqliteStore::text_of(const Sql& statement) const {
    if (statement.sqlite.empty()) return std::nullopt;
    return statement.sqlite;
}

void SqliteStore::stop() {
    {
        const std::lock_guard guard{impl_->mutex};
        impl_->stopping = true;
    }
    impl_->waiting.notify_one();
    if (impl_->thread.joinable()) impl_->thread.join();
}

store::StoreStats SqliteStore::stats() const {
    const std::lock_guard guard{impl_->mutex};
    return impl_->stats;
}

}  // namespace pawl::sqlite
