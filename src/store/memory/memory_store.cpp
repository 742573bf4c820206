#include "src/store/memory/memory_store.hpp"

#include "src/core/assert.hpp"
#include "src/store/sqlite/connection.hpp"
#include "src/store/sqlite/transaction.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace pawl::memory {

using sqlite::Connection;
using store::Urgency;
using store::Work;

namespace {

using Effect = StoreError::Effect;
using Kind = StoreError::Kind;

std::exception_ptr failure(Kind kind, Effect effect, std::string text) {
    return std::make_exception_ptr(StoreError{kind, effect, "commit", std::move(text)});
}

bool dies(CommitFate fate) {
    return fate == CommitFate::dies_before || fate == CommitFate::dies_after;
}

struct Plan {
    CommitFate fate{};
    Kind kind{};
};

}  // namespace

struct MemoryStore::Impl {
    Impl(base::Clock& its_clock, MemoryOptions its_options)
        : options{its_options},
          clock{its_clock},
          connection{":memory:", Connection::Mode::owner, std::chrono::milliseconds{0}, clock} {}

    std::unique_ptr<Work> take();
    Step run(Work& work);
    std::exception_ptr run_uncommitted(Work& work);
    std::optional<Plan> take_plan();
    void count(const std::exception_ptr& failed);
    std::exception_ptr commit(std::optional<Plan> plan);
    void drain(std::unique_lock<std::mutex>& guard);

    const MemoryOptions options;
    base::Clock& clock;

    std::mutex connecting;  // Held during one transaction, never during done().
    Connection connection;

    mutable std::mutex mutex;
    std::condition_variable drained;
    std::deque<std::unique_ptr<Work>> first;
    std::deque<std::unique_ptr<Work>> normal;
    std::optional<std::thread::id> drainer;
    std::optional<Plan> planned;
    bool stopping{false};
    store::StoreStats stats;
};

std::unique_ptr<Work> MemoryStore::Impl::take() {
    auto& line = first.empty() ? normal : first;
    if (line.empty()) return nullptr;
    auto work = std::move(line.front());
    line.pop_front();
    return work;
}

std::exception_ptr MemoryStore::Impl::run_uncommitted(Work& work) {
    try {
        connection.control("BEGIN IMMEDIATE");
    } catch (const StoreError&) {
        return sqlite::undone_with(std::current_exception());
    }
    auto failed = sqlite::run_in_savepoint(connection, clock, work);
    if (!failed && !connection.in_transaction()) return sqlite::undone_with(nullptr);
    return failed;
}

std::optional<Plan> MemoryStore::Impl::take_plan() {
    const std::lock_guard guard{mutex};
    return std::exchange(planned, std::nullopt);
}

void MemoryStore::Impl::count(const std::exception_ptr& failed) {
    const std::lock_guard guard{mutex};
    ++stats.works;
    stats.commits += failed ? 0 : 1;
    stats.largest_batch = 1;
}

// Runs one transaction and reports its result.
MemoryStore::Step MemoryStore::Impl::run(Work& work) {
    std::exception_ptr failed;
    std::optional<Plan> plan;
    {
        const std::lock_guard guard{connecting};
        failed = run_uncommitted(work);
        if (!failed) {
            plan = take_plan();
            failed = commit(plan);
        }
        sqlite::roll_back(connection);
        count(failed);
    }
    if (plan && dies(plan->fate)) return Step::died;
    work.done(std::move(failed));
    return Step::ran;
}

std::exception_ptr MemoryStore::Impl::commit(std::optional<Plan> plan) {
    if (!plan) return sqlite::commit(connection);
    const auto fate = plan->fate;
    if (fate == CommitFate::in_doubt_kept || fate == CommitFate::dies_after)
        connection.control("COMMIT");
    if (fate == CommitFate::refused)
        return failure(
            plan->kind, Effect::rolled_back, "a planned failure: the commit was refused"
        );
    if (dies(fate)) return nullptr;
    return failure(plan->kind, Effect::in_doubt, "a planned failure: the commit got no answer");
}

// One thread at a time runs what waits. Works that a done() submits come after, so no stack grows,
// and writes keep their order for all callers.
void MemoryStore::Impl::drain(std::unique_lock<std::mutex>& guard) {
    if (drainer) return;
    drainer = std::this_thread::get_id();
    while (auto work = take()) {
        guard.unlock();
        run(*work);
        work.reset();
        guard.lock();
    }
    drainer.reset();
    drained.notify_all();
}

MemoryStore::MemoryStore(base::Clock& clock, MemoryOptions options)
    : impl_{std::make_unique<Impl>(clock, options)} {
    PAWL_ASSERT(options.waiting_max > 0);
}

MemoryStore::~MemoryStore() {
    if (impl_->options.drive == MemoryOptions::Drive::by_hand) crash();  // No more steps will come.
    stop();
}

void MemoryStore::write(std::unique_ptr<Work> work, Urgency urgency) {
    std::unique_lock guard{impl_->mutex};
    std::exception_ptr refused;
    if (impl_->stopping) {
        refused = store::stopped();
    } else if (impl_->first.size() + impl_->normal.size() >= impl_->options.waiting_max) {
        refused = store::too_many_wait(impl_->options.waiting_max);
    }
    if (refused) {
        guard.unlock();
        return work->done(refused);
    }
    (urgency == Urgency::first ? impl_->first : impl_->normal).push_back(std::move(work));
    if (impl_->options.drive == MemoryOptions::Drive::at_once) impl_->drain(guard);
}

void MemoryStore::read(std::unique_ptr<Work> work) {
    std::unique_lock guard{impl_->mutex};
    const bool stopping = impl_->stopping;
    guard.unlock();
    if (stopping) return work->done(store::stopped());
    std::unique_lock connecting{impl_->connecting};
    auto failed = sqlite::run_read(impl_->connection, impl_->clock, *work);
    connecting.unlock();
    work->done(std::move(failed));
}

store::StoreStats MemoryStore::stats() const {
    const std::lock_guard guard{impl_->mutex};
    return impl_->stats;
}

std::int64_t MemoryStore::changes() const {
    const std::lock_guard guard{impl_->connecting};
    return impl_->connection.total_changes();
}

void MemoryStore::stop() {
    std::unique_lock guard{impl_->mutex};
    impl_->stopping = true;
    if (impl_->drainer == std::this_thread::get_id())
        return;  // Called from done(): the waiting works end after it.
    impl_->drained.wait(guard, [this] { return !impl_->drainer; });
    impl_->drain(guard);
}

MemoryStore::Step MemoryStore::step() {
    PAWL_ASSERT(impl_->options.drive == MemoryOptions::Drive::by_hand);
    std::unique_lock guard{impl_->mutex};
    const auto work = impl_->take();
    guard.unlock();
    if (!work) return Step::nothing_waits;
    const auto ended = impl_->run(*work);
    if (ended == Step::died) crash();
    return ended;
}

std::size_t MemoryStore::waiting() const {
    const std::lock_guard guard{impl_->mutex};
    return impl_->first.size() + impl_->normal.size();
}

void MemoryStore::plan_next_commit(CommitFate fate, StoreError::Kind kind) {
    PAWL_ASSERT(!dies(fate) || impl_->options.drive == MemoryOptions::Drive::by_hand);
    const std::lock_guard guard{impl_->mutex};
    impl_->planned = Plan{fate, kind};
}

void MemoryStore::plan_nothing() {
    (void)impl_->take_plan();
}

void MemoryStore::crash() {
    PAWL_ASSERT(impl_->options.drive == MemoryOptions::Drive::by_hand);
    std::deque<std::unique_ptr<Work>> dropped;
    const std::lock_guard guard{impl_->mutex};
    std::swap(dropped, impl_->normal);
    for (auto& work : impl_->first) dropped.push_back(std::move(work));
    impl_->first.clear();
}

}  // namespace pawl::memory
