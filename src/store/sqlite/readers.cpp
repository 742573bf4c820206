#include "src/store/sqlite/readers.hpp"

#include "src/base/thread_name.hpp"
#include "src/store/sqlite/sqlite_session.hpp"
#include "src/store/sqlite/transaction.hpp"

#include <utility>

namespace pawl::sqlite {

namespace {

using namespace std::chrono_literals;

// A lookup reads one row by an index; it takes this long only if the disk hangs.
constexpr auto lookup_deadline = 5s;

std::exception_ptr waited_too_long() {
    return std::make_exception_ptr(StoreError{
        StoreError::Kind::busy,
        StoreError::Effect::none,
        "",
        "the read waited too long for a reader thread"});
}

}  // namespace

Readers::Readers(const ReadersOptions& options, const Open& open, base::Clock& clock)
    : clock_{clock}, waiting_max_{options.waiting_max} {
    for (int i = 0; i < options.lookup_connections; ++i) free_.push_back(open(0ms));
    for (int i = 0; i < options.threads + 1; ++i)
        connections_.push_back(open(options.busy_timeout));
    threads_.emplace_back([this] {
        base::name_this_thread("pawl-lookups");
        run_lookups(*connections_.front());
    });
    for (std::size_t i = 1; i < connections_.size(); ++i)
        threads_.emplace_back([this, i] {
            base::name_this_thread("pawl-reader");
            run_reads(*connections_[i]);
        });
}

Readers::~Readers() {
    stop();
}

// Not null: why it was not pushed, and `make` was not called.
template <class T, class Make>
std::exception_ptr Readers::push(std::deque<T>& to, Make make) {
    const std::lock_guard lock{mutex_};
    if (stopping_) return store::stopped();
    if (to.size() >= waiting_max_) return store::too_many_wait(waiting_max_);
    to.push_back(make());
    return nullptr;
}

void Readers::read(std::unique_ptr<store::Work> work) {
    auto refused = push(reads_, [&] { return Waiting{std::move(work), clock_.steady()}; });
    if (!refused) return read_waits_.notify_one();
    work->done(std::move(refused));  // NOLINT(bugprone-use-after-move): not moved if refused.
}

void Readers::lookup(std::unique_ptr<store::Lookup> lookup) {
    if (!look_at_once(*lookup)) queue(std::move(lookup));
}

// Runs on the calling thread; false: it would have to wait.
bool Readers::look_at_once(store::Lookup& lookup) {
    auto connection = free_connection();
    if (!connection) return false;
    auto failed = run(*connection, lookup);
    give_back(std::move(connection));
    // Another process has locked the whole file.
    if (store::is_store_error(failed, StoreError::Kind::busy)) return false;
    lookup.done(std::move(failed), clock_.now());
    return true;
}

void Readers::queue(std::unique_ptr<store::Lookup> lookup) {
    auto refused = push(lookups_, [&] { return std::move(lookup); });
    if (!refused) return lookup_waits_.notify_one();
    lookup->done(std::move(refused), {});  // NOLINT(bugprone-use-after-move): as above.
}

std::unique_ptr<Connection> Readers::free_connection() {
    const std::lock_guard lock{mutex_};
    if (stopping_ || free_.empty()) return nullptr;
    auto connection = std::move(free_.back());
    free_.pop_back();
    return connection;
}

void Readers::give_back(std::unique_ptr<Connection> connection) {
    const std::lock_guard lock{mutex_};
    free_.push_back(std::move(connection));
}

void Readers::run_reads(Connection& connection) {
    while (true) {
        std::unique_lock lock{mutex_};
        read_waits_.wait(lock, [this] { return stopping_ || !reads_.empty(); });
        if (reads_.empty()) return;
        auto next = std::move(reads_.front());
        reads_.pop_front();
        lock.unlock();
        run(connection, std::move(next));
    }
}

void Readers::run_lookups(Connection& connection) {
    while (true) {
        std::unique_lock lock{mutex_};
        lookup_waits_.wait(lock, [this] { return stopping_ || !lookups_.empty(); });
        if (lookups_.empty()) return;
        const auto next = std::move(lookups_.front());
        lookups_.pop_front();
        lock.unlock();
        auto failed = run(connection, *next);
        next->done(std::move(failed), clock_.now());
    }
}

void Readers::run(Connection& connection, Waiting waiting) {
    if (clock_.steady() - waiting.since > waiting.work->deadline())
        return waiting.work->done(waited_too_long());
    auto failed = run_read(connection, clock_, *waiting.work);
    waiting.work->done(std::move(failed));
}

// One SELECT is a snapshot by itself, without BEGIN.
std::exception_ptr Readers::run(Connection& connection, store::Lookup& lookup) {
    std::exception_ptr failed;
    try {
        connection.set_deadline(lookup_deadline);
        SqliteSession session{connection, clock_, SqliteSession::Mode::read};
        session.run(lookup.statement(), lookup.parameters(), [&](const store::Row& row) {
            lookup.row(row);
        });
    } catch (...) {
        failed = std::current_exception();
    }
    connection.clear_deadline();
    return failed;
}

void Readers::leave_log() {
    for (const auto& connection : connections_) connection->leave_log();
    for (const auto& connection : free_) connection->leave_log();
}

void Readers::stop() {
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
    }
    read_waits_.notify_all();
    lookup_waits_.notify_all();
    const std::lock_guard lock{joining_};
    for (auto& thread : threads_)
        if (thread.joinable()) thread.join();
}

}  // namespace pawl::sqlite
