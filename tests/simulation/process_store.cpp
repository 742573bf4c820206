#include "tests/simulation/process_store.hpp"

#include "tests/simulation/sql_mutants.hpp"

#include <utility>

namespace pawl::simulation {

namespace {

thread_local bool open_now = false;

std::exception_ptr no_process() {
    return std::make_exception_ptr(StoreError{
        StoreError::Kind::unavailable, StoreError::Effect::none, "simulation", "the process died"});
}

std::exception_ptr no_answer() {
    return std::make_exception_ptr(StoreError{
        StoreError::Kind::unavailable, StoreError::Effect::none, "simulation", "a read failed"});
}

// Sees the session locks of the processes.
class LockingSession final : public testing::PassingSession {
public:
    LockingSession(store::Session& inner, const HeldLocks& locks)
        : PassingSession{inner}, locks_{locks} {}
    bool try_lock_name(std::int64_t number) override { return !locks_.contains(number); }

private:
    const HeldLocks& locks_;
};

// Marks that a transaction is open, and applies a planted fault to its statements.
class Watched final : public store::Work {
public:
    Watched(std::unique_ptr<store::Work> inner, const HeldLocks& locks)
        : inner_{std::move(inner)}, locks_{locks} {}
    void run(store::Session& of_store) override {
        LockingSession session{of_store, locks_};
        open_now = true;
        try {
            if (sql_is_mutated()) {
                MutatedSession mutated{session};
                inner_->run(mutated);
            } else {
                inner_->run(session);
            }
        } catch (...) {
            open_now = false;
            throw;
        }
        open_now = false;
    }
    void done(std::exception_ptr failed) noexcept override { inner_->done(std::move(failed)); }
    std::chrono::milliseconds deadline() const override { return inner_->deadline(); }

private:
    std::unique_ptr<store::Work> inner_;
    const HeldLocks& locks_;
};

}  // namespace

bool ProcessStore::in_transaction() {
    return open_now;
}

void ProcessStore::submit(std::unique_ptr<store::Work> work, bool writes) {
    if (dead_) return work->done(no_process());
    line_.push_back({std::make_unique<Watched>(std::move(work), locks_), writes});
}

void ProcessStore::step(std::size_t nth, std::optional<memory::CommitFate> fate) {
    auto [work, writes] = std::move(line_.at(nth));
    line_.erase(line_.begin() + static_cast<std::ptrdiff_t>(nth));
    if (!writes && fate) return work->done(no_answer());
    if (!writes) return database_.read(std::move(work));
    if (fate) database_.plan_next_commit(*fate);
    database_.write(std::move(work));
    database_.plan_nothing();
    if (!fate) return;
    // An id stays used although its transaction was undone: a sequence of PostgreSQL does not take
    // it back, and SQLite has one process.
    static const Sql skip{
        "simulation_skip_id",
        "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'pawl_key_registry'",
        {}};
    store::write_now(database_, [](store::Session& session) {
        session.run(skip, {}, [](const detail::Row&) {});
    });
}

void ProcessStore::kill() {
    dead_ = true;
    locks_.erase(own_lock_);
    auto dropped = std::exchange(line_, {});
    for (auto& [work, writes] : dropped) work->done(no_process());
}

}  // namespace pawl::simulation
