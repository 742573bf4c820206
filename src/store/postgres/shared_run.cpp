#include "src/store/postgres/shared_run.hpp"

#include "src/store/postgres/postgres_session.hpp"

#include <algorithm>

namespace pawl::postgres {

namespace {

using Works = std::span<const std::unique_ptr<store::Work>>;

using OnCommit = detail::FunctionRef<void()>;
using BrokeUp = SharedRun::BrokeUp;

struct BreaksUp {
    BrokeUp why{BrokeUp::met_another};
};

// What is no fault of the work, and would hold up its neighbours as well; or may be one that only
// neighbours make: a name or a right that is not as it would be alone.
bool is_of_all(const std::exception_ptr& failed) {
    using Kind = StoreError::Kind;
    return store::is_store_error(failed, [](const StoreError& error) {
        return error.passing() || error.kind() == Kind::statement || error.kind() == Kind::refused;
    });
}

std::exception_ptr run_work(const TransactionParts& parts, store::Work& work, SharedRun& run) {
    PostgresSession session{
        parts.connection, parts.options, parts.clock, PostgresSession::In::shared_one};
    std::exception_ptr failed;
    try {
        work.run(session);
        store::check_phase_end(parts.connection.deadline_passed(), session.failed());
    } catch (...) {
        failed = std::current_exception();
    }
    if (session.needs_own_transaction()) run.apart.push_back(work.kind());
    if (parts.connection.spoilt() || !parts.connection.usable()) throw BreaksUp{};
    if (is_of_all(failed)) throw BreaksUp{};
    return failed;
}

// Why it failed, or null; what it wrote is undone then.
std::exception_ptr run_in_savepoint(
    const TransactionParts& parts, store::Work& work, SharedRun& run
) {
    auto& connection = parts.connection;
    connection.queue_control("SAVEPOINT work");
    const auto mark = connection.mark();
    auto failed = run_work(parts, work, run);
    if (failed) {
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
        if (clock_.steady() - began_ > slow_phase) run_.apart.push_back(work_.kind());
    }
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;

private:
    core::Clock& clock_;
    const store::Work& work_;
    SharedRun& run_;
    const std::chrono::steady_clock::time_point began_{clock_.steady()};
};

void run_all(
    const TransactionParts& parts,
    Works works,
    const std::vector<bool>& in_savepoint,
    OnCommit on_commit,
    SharedRun& run
) {
    queue_begin(
        parts.connection, works.front()->isolation(), shortest_deadline(works), shared_lock_patience
    );
    for (std::size_t i = 0; i < works.size(); ++i) {
        auto& work = *works[i];
        const Timed timed{parts.clock, work, run};
        if (works.size() > 1) {
            parts.connection.own_from_here();
            parts.connection.set_deadline(work.deadline());
        }
        const bool saved = works.size() > 1 && in_savepoint[i];
        auto failed = saved ? run_in_savepoint(parts, work, run) : run_work(parts, work, run);
        if (failed) run.threw.push_back(work.kind());
        if (failed && !saved && works.size() > 1) throw BreaksUp{BrokeUp::threw};
        run.failed[i] = std::move(failed);
    }
    on_commit();
    if (works.size() == 1 && run.failed[0]) return;
    commit(parts.connection);
}

}  // namespace

SharedRun run_shared(
    const TransactionParts& parts,
    Works works,
    const std::vector<bool>& in_savepoint,
    OnCommit on_commit
) {
    SharedRun run;
    run.failed.resize(works.size());
    try {
        run_all(parts, works, in_savepoint, on_commit, run);
    } catch (const StoreError& error) {
        if (error.effect() != StoreError::Effect::in_doubt) run.broke_up = BrokeUp::met_another;
        // Of all: what failed by itself may have met a row that was never committed.
        for (auto& failed : run.failed) failed = std::make_exception_ptr(StoreError{error});
    } catch (const BreaksUp& breaks_up) {
        run.broke_up = breaks_up.why;
    }
    roll_back(parts.connection);  // If it is open still.
    parts.connection.clear_deadline();
    return run;
}

}  // namespace pawl::postgres
