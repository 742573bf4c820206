#include "src/store/postgres/shared_run.hpp"

#include "src/store/postgres/postgres_session.hpp"

#include <algorithm>

namespace pawl::postgres {

namespace {

using Works = std::span<const std::unique_ptr<store::Work>>;

using OnCommit = detail::FunctionRef<void()>;

struct BreaksUp {};

// Trouble that is no fault of the work: it would hold up its neighbours as well.
bool is_passing(const std::exception_ptr& failed) {
    try {
        std::rethrow_exception(failed);
    } catch (const StoreError& error) {
        return error.passing();
    } catch (...) {
        return false;
    }
}

std::exception_ptr run_work(const TransactionParts& parts, store::Work& work) {
    try {
        PostgresSession session{
            parts.connection, parts.options, parts.clock, PostgresSession::In::shared_one};
        work.run(session);
        store::check_phase_end(parts.connection.deadline_passed(), session.failed());
        return nullptr;
    } catch (...) {
        return std::current_exception();
    }
}

// Why it failed, or null; what it wrote is undone then.
std::exception_ptr run_in_savepoint(const TransactionParts& parts, store::Work& work) {
    auto& connection = parts.connection;
    connection.own_from_here();
    connection.queue_control("SAVEPOINT work");
    const auto mark = connection.mark();
    connection.set_deadline(work.deadline());
    auto failed = run_work(parts, work);
    if (connection.spoilt() || !connection.usable()) throw BreaksUp{};
    if (failed) {
        if (is_passing(failed)) throw BreaksUp{};
        connection.forget_queued_since(mark);
        connection.queue_control("ROLLBACK TO SAVEPOINT work");
    }
    connection.queue_control("RELEASE SAVEPOINT work");
    return failed;
}

std::chrono::milliseconds shortest_deadline(Works works) {
    auto shortest = works.front()->deadline();
    for (const auto& work : works) shortest = std::min(shortest, work->deadline());
    return shortest;
}

// Notes a work that was slow, also if all break up for it.
class Timed {
public:
    Timed(core::Clock& clock, const store::Work& work, SharedRun& run)
        : clock_{clock}, work_{work}, run_{run} {}
    ~Timed() {
        if (clock_.steady() - began_ > slow_phase) run_.slow.push_back(work_.kind());
    }
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;

private:
    core::Clock& clock_;
    const store::Work& work_;
    SharedRun& run_;
    const std::chrono::steady_clock::time_point began_{clock_.steady()};
};

void run_all(const TransactionParts& parts, Works works, OnCommit on_commit, SharedRun& run) {
    queue_begin(
        parts.connection,
        works.front()->isolation(),
        shortest_deadline(works),
        shared_lock_patience
    );
    for (std::size_t i = 0; i < works.size(); ++i) {
        const Timed timed{parts.clock, *works[i], run};
        run.failed[i] = run_in_savepoint(parts, *works[i]);
    }
    on_commit();
    commit(parts.connection);
}

}  // namespace

SharedRun run_shared(const TransactionParts& parts, Works works, OnCommit on_commit) {
    SharedRun run;
    run.failed.resize(works.size());
    try {
        run_all(parts, works, on_commit, run);
    } catch (const StoreError& error) {
        run.broke_up = error.effect() != StoreError::Effect::in_doubt;
        for (auto& failed : run.failed)
            if (!failed) failed = std::make_exception_ptr(StoreError{error});
    } catch (const BreaksUp&) {
        run.broke_up = true;
    }
    if (run.broke_up) roll_back(parts.connection);
    parts.connection.clear_deadline();
    return run;
}

}  // namespace pawl::postgres
