#include "src/store/sqlite/sqlite_store.hpp"

#include "src/base/thread_name.hpp"
#include "src/store/recent_kinds.hpp"
#include "src/store/sqlite/connection.hpp"
#include "src/store/sqlite/file_watch.hpp"
#include "src/store/sqlite/owner_lock.hpp"
#include "src/store/sqlite/readers.hpp"
#include "src/store/sqlite/transaction.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace pawl::sqlite {

using store::Urgency;
using store::Work;

namespace {

// The default number of listener threads; with more of those a lookup may find none free.
constexpr int lookup_connections = 4;

using Line = std::deque<std::unique_ptr<Work>>;

SqliteOptions checked(SqliteOptions options) {
    if (auto why = options.problem()) throw std::invalid_argument{"SqliteOptions: " + *why};
    return options;
}

}  // namespace

struct SqliteStore::Impl {
    Impl(SqliteOptions options_, base::Clock& clock_, base::OnWarning on_warning_)
        : options{std::move(options_)},
          clock{clock_},
          on_warning{std::move(on_warning_)},
          memory{options.path == ":memory:"},
          lock{options.owner && !memory ? std::make_unique<OwnerLock>(options.path) : nullptr},
          writer{
              options.path,
              options.owner || memory ? Connection::Mode::owner : Connection::Mode::tool,
              options.busy_timeout,
              clock} {
        if (!memory) readers = make_readers();
        if (!memory) begin_watch();
        thread = std::thread{[this] {
            base::name_this_thread("pawl-writer");
            loop();
        }};
    }

    std::unique_ptr<Readers> make_readers() const {
        return std::make_unique<Readers>(
            ReadersOptions{
                .threads = options.owner ? options.readers : 1,  // A tool has one reader.
                .lookup_connections = options.owner ? lookup_connections : 1,
                .waiting_max = options.reads_waiting_max,
                .busy_timeout = options.busy_timeout},
            [this](std::chrono::milliseconds busy_timeout) {
                return std::make_unique<Connection>(
                    options.path, Connection::Mode::reader, busy_timeout, clock
                );
            },
            clock
        );
    }

    ~Impl() {
        if (!watch || watch->check().empty()) return;
        writer.leave_log();
        readers->leave_log();
    }

    void begin_watch();
    std::exception_ptr why_no_read();
    std::exception_ptr lost_file(const std::string& why, StoreError::Effect effect);
    std::exception_ptr run_all(
        std::vector<std::unique_ptr<Work>>& batch, std::vector<std::exception_ptr>& failed
    );
    enum class Savepoints { for_kinds_that_threw, for_all };
    std::size_t run_works(
        std::vector<std::unique_ptr<Work>>& batch,
        std::vector<std::exception_ptr>& failed,
        Savepoints savepoints
    );
    void loop();
    bool take(std::vector<std::unique_ptr<Work>>& batch);
    void run_batch(std::vector<std::unique_ptr<Work>>& batch);
    bool is_stopping() {
        const std::lock_guard guard{mutex};
        return stopping;
    }

    const SqliteOptions options;
    base::Clock& clock;
    const base::OnWarning on_warning;
    const bool memory;
    std::unique_ptr<OwnerLock> lock;
    // Held during a batch; with ":memory:" also by readers, who share the connection.
    std::mutex writing;
    Connection writer;
    store::RecentKinds threw;        // Of the writer's thread.
    std::optional<FileWatch> watch;  // None in memory.
    std::atomic<bool> told_lost{false};

    std::mutex mutex;
    std::condition_variable waiting;
    Line first;
    Line normal;
    bool stopping{false};
    store::StoreStats stats;

    std::unique_ptr<Readers> readers;  // nullptr: ":memory:".
    std::mutex joining;
    std::thread thread;
};

// The first read makes SQLite open or create the log.
void SqliteStore::Impl::begin_watch() {
    writer.script("watch", "SELECT count(*) FROM sqlite_schema");
    const auto file = writer.file();
    watch.emplace(options.path, lock ? lock->database() : -1);
    watch->add(file + "-wal");
    watch->add(file + "-shm");
    if (lock) watch->add(lock->path());
    auto why = watch->check();
    if (why.empty() && writer.has_moved()) why = options.path + " was replaced by another file";
    if (!why.empty()) std::rethrow_exception(lost_file(why, StoreError::Effect::none));
}

std::exception_ptr SqliteStore::Impl::lost_file(const std::string& why, StoreError::Effect effect) {
    const auto text = "the database " + options.path + " is not the file that was opened: " + why +
                      "; nothing is written or answered any more: stop the server, put the right "
                      "file in its place, start it again";
    if (on_warning && !told_lost.exchange(true))
        on_warning({.event = "database_file_lost", .code = "PAWL0016", .detail = text});
    return std::make_exception_ptr(StoreError{
        StoreError::Kind::unavailable, effect, "", "PAWL0016: " + text});
}

bool SqliteStore::Impl::take(std::vector<std::unique_ptr<Work>>& batch) {
    std::unique_lock guard{mutex};
    waiting.wait(guard, [this] { return stopping || !first.empty() || !normal.empty(); });
    for (Line* line : {&first, &normal}) {
        while (!line->empty() && batch.size() < options.batch_max) {
            batch.push_back(std::move(line->front()));
            line->pop_front();
        }
    }
    return !batch.empty();  // Empty only when stopping.
}

// Takes all waiting works: the batch sizes itself without a timer.
void SqliteStore::Impl::loop() {
    std::vector<std::unique_ptr<Work>> batch;
    while (take(batch)) {
        run_batch(batch);
        batch.clear();
    }
}

// Runs the works that have not failed. Returns the place of the one after whose failure the
// transaction must be rolled back; behind the last one: there is none.
std::size_t SqliteStore::Impl::run_works(
    std::vector<std::unique_ptr<Work>>& batch,
    std::vector<std::exception_ptr>& failed,
    Savepoints savepoints
) {
    const auto now = clock.steady();
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (failed[i]) continue;
        const auto* const kind = batch[i]->kind();
        const bool saved =
            savepoints == Savepoints::for_all || kind == nullptr || threw.has(kind, now);
        failed[i] =
            saved ? run_in_savepoint(writer, clock, *batch[i]) : run_work(writer, clock, *batch[i]);
        if (failed[i]) threw.add(kind, now);
        const bool undo = failed[i] && !saved;
        if (undo || !writer.in_transaction()) return i;
    }
    return batch.size();
}

// Returns why the batch is not committed, or null. Checks the files before the batch, so that
// nothing is written to a lost file, and after the commit, so that no answer depends on one.
//
// A savepoint costs SQLite a copy of each page that the work changes, and few works fail. So works
// of a kind run without, and if one fails, all run again in savepoints (ADR 40): its error may come
// from rows that are rolled back now. One that met its deadline, or after which SQLite itself
// has rolled back everything, does not run again.
std::exception_ptr SqliteStore::Impl::run_all(
    std::vector<std::unique_ptr<Work>>& batch, std::vector<std::exception_ptr>& failed
) {
    if (auto why = watch ? watch->check() : std::string{}; !why.empty())
        return lost_file(why, StoreError::Effect::none);
    std::vector<std::exception_ptr> final(batch.size());
    auto savepoints = Savepoints::for_kinds_that_threw;
    while (true) {
        if (auto refused = begin(writer)) return refused;
        const auto at = run_works(batch, failed, savepoints);
        if (at == batch.size()) break;
        if (!failed[at]) failed[at] = undone_with(nullptr);
        const bool met_deadline = store::is_store_error(failed[at], StoreError::Kind::deadline);
        if (at == 0 || !writer.in_transaction() || met_deadline) final[at] = failed[at];
        const auto undone = undone_with(failed[at]);
        roll_back(writer);
        failed = final;
        if (std::find(failed.begin(), failed.end(), nullptr) == failed.end()) return undone;
        savepoints = Savepoints::for_all;  // From now on each round has one final error more.
    }
    if (auto refused = commit(writer)) return refused;
    if (auto why = watch ? watch->check() : std::string{}; !why.empty())
        return lost_file(why, StoreError::Effect::in_doubt);
    return nullptr;
}

void SqliteStore::Impl::run_batch(std::vector<std::unique_ptr<Work>>& batch) {
    std::vector<std::exception_ptr> failed(batch.size());
    std::exception_ptr all;
    {
        const std::lock_guard guard{writing};
        all = run_all(batch, failed);
        if (all) roll_back(writer);
    }
    {
        const std::lock_guard guard{mutex};
        stats.commits += all ? 0 : 1;
        stats.works += batch.size();
        stats.largest_batch = std::max<std::uint64_t>(stats.largest_batch, batch.size());
    }
    for (std::size_t i = 0; i < batch.size(); ++i)
        batch[i]->done(failed[i] ? std::move(failed[i]) : copy_of(all));
    // After a checkpoint, when the answers are out: it waits for the disk.
    if (const auto age = watch && lock ? watch->take_new_age() : std::nullopt) lock->record(*age);
}

std::optional<std::string> SqliteOptions::problem() const {
    if (path.empty()) return "database: the path is empty";
    if (waiting_max < 1) return "waiting_max is 0: at least 1";
    if (batch_max < 1) return "batch_max is 0: at least 1";
    if (reads_waiting_max < 1) return "reads_waiting_max is 0: at least 1";
    if (readers < 1 || readers > 64) return "readers is " + std::to_string(readers) + ": 1 to 64";
    return std::nullopt;
}

SqliteStore::SqliteStore(SqliteOptions options, base::Clock& clock, base::OnWarning on_warning)
    : impl_{std::make_unique<Impl>(checked(std::move(options)), clock, std::move(on_warning))} {}

SqliteStore::~SqliteStore() {
    stop();
}

void SqliteStore::write(std::unique_ptr<Work> work, Urgency urgency) {
    std::exception_ptr refused;
    {
        const std::lock_guard guard{impl_->mutex};
        if (impl_->stopping) {
            refused = store::stopped();
        } else if (impl_->first.size() + impl_->normal.size() >= impl_->options.waiting_max) {
            refused = store::too_many_wait(impl_->options.waiting_max);
        } else {
            const bool idle = impl_->first.empty() && impl_->normal.empty();
            (urgency == Urgency::first ? impl_->first : impl_->normal).push_back(std::move(work));
            if (idle) impl_->waiting.notify_one();
        }
    }
    if (refused) work->done(refused);  // NOLINT(bugprone-use-after-move): not moved if refused.
}

std::exception_ptr SqliteStore::Impl::why_no_read() {
    if (is_stopping()) return store::stopped();
    const auto why = watch ? watch->check_lately(clock.steady()) : std::string{};
    return why.empty() ? nullptr : lost_file(why, StoreError::Effect::none);
}

void SqliteStore::read(std::unique_ptr<Work> work) {
    auto failed = impl_->why_no_read();
    if (failed) return work->done(std::move(failed));
    if (impl_->readers) return impl_->readers->read(std::move(work));
    {
        const std::lock_guard guard{impl_->writing};
        failed = run_read(impl_->writer, impl_->clock, *work);
    }
    work->done(std::move(failed));
}

void SqliteStore::lookup(std::unique_ptr<store::Lookup> lookup) {
    if (!impl_->readers) return Store::lookup(std::move(lookup));
    auto failed = impl_->why_no_read();
    if (failed) return lookup->done(std::move(failed), {});
    impl_->readers->lookup(std::move(lookup));
}

void SqliteStore::stop() {
    {
        const std::lock_guard guard{impl_->mutex};
        impl_->stopping = true;
    }
    impl_->waiting.notify_one();
    const std::lock_guard guard{impl_->joining};
    if (impl_->thread.joinable()) impl_->thread.join();
    if (impl_->readers) impl_->readers->stop();
}

// By its real path, as the log beside it.
std::string SqliteStore::file() const {
    return impl_->memory ? std::string{} : impl_->writer.file();
}

store::StoreStats SqliteStore::stats() const {
    const std::lock_guard guard{impl_->mutex};
    auto stats = impl_->stats;
    stats.waiting = impl_->first.size() + impl_->normal.size();
    return stats;
}

}  // namespace pawl::sqlite
