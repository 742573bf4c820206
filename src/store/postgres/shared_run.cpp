#include "src/store/postgres/shared_run.hpp"

#include "src/core/assert.hpp"
#include "src/store/postgres/postgres_session.hpp"

#include <algorithm>

namespace pawl::postgres {

namespace {

using Works = std::span<const std::unique_ptr<store::Work>>;

using OnCommit = detail::FunctionRef<void()>;
using Split = SharedRun::Split;

struct SplitRun {
    Split why{};
};

bool is_transient(const std::exception_ptr& failed) {
    return store::is_store_error(failed, [](const StoreError& error) { return error.transient(); });
}

// Errors that another work of the transaction may have caused, by a changed setting or right.
bool may_come_from_neighbour(const std::exception_ptr& failed) {
    return store::is_store_error(failed, StoreError::Kind::statement) ||
           store::is_store_error(failed, StoreError::Kind::refused);
}

// Returns why it failed, or null.
std::exception_ptr run_work(const TransactionParts& parts, store::Work& work, SharedRun& run) {
    PostgresSession session{
        parts.connection, parts.options, parts.clock, PostgresSession::In::shared_one};
    std::exception_ptr failed;
    try {
        session.run_phase(work);
    } catch (...) {
        failed = std::current_exception();
    }
    if (session.needs_own_transaction()) run.apart.push_back(work.kind());
    if (parts.connection.earlier_failure()) throw SplitRun{Split::conflicted};
    if (!parts.connection.usable() || is_transient(failed)) throw SplitRun{Split::conflicted};
    if (may_come_from_neighbour(failed)) {
        run.apart.push_back(work.kind());
        throw SplitRun{Split::threw};
    }
    return failed;
}

// Flush now, so that an error of this work is not reported for the next one.
std::exception_ptr flush_own(const TransactionParts& parts) {
    try {
        (void)parts.connection.flush();
        return nullptr;
    } catch (const StoreError& error) {
        if (error.transient()) throw SplitRun{Split::conflicted};
        return std::make_exception_ptr(StoreError{error});
    }
}

// Returns why it failed, or null; after a failure its writes are rolled back.
std::exception_ptr run_in_savepoint(
    const TransactionParts& parts, store::Work& work, SharedRun& run
) {
    auto& connection = parts.connection;
    connection.queue_control("SAVEPOINT work");
    const auto mark = connection.mark();
    auto failed = run_work(parts, work, run);
    if (!failed && connection.has_queued()) failed = flush_own(parts);
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

// Records a slow work, even if the transaction breaks up.
class Timed {
public:
    Timed(base::Clock& clock, const store::Work& work, SharedRun& run)
        : clock_{clock}, work_{work}, run_{run} {}
    ~Timed() {
        if (clock_.steady() - began_ > slow_phase) run_.apart.push_back(work_.kind());
    }
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;

private:
    base::Clock& clock_;
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
        parts.connection, works.front()->isolation(), shortest_deadline(works), shared_lock_timeout
    );
    for (std::size_t i = 0; i < works.size(); ++i) {
        auto& work = *works[i];
        const Timed timed{parts.clock, work, run};
        if (works.size() > 1) {
            parts.connection.begin_next_work();
            parts.connection.set_deadline(work.deadline());
        }
        const bool saved = works.size() > 1 && in_savepoint[i];
        auto failed = saved ? run_in_savepoint(parts, work, run) : run_work(parts, work, run);
        if (failed) run.threw.push_back(work.kind());
        if (failed && !saved && works.size() > 1) throw SplitRun{Split::threw};
        run.failed[i] = std::move(failed);
    }
    on_commit();
    if (works.size() == 1 && run.failed[0]) return;
    if (works.size() > 1) parts.connection.begin_next_work();
    commit(parts.connection);
}

// A queued statement failed after its work had returned: its own error, or contention.
Split broken_by(const Connection::EarlierFailure& earlier_failure, Works works, SharedRun& run) {
    using Kind = StoreError::Kind;
    if (earlier_failure.owner == 0 || earlier_failure.owner > works.size())
        return Split::conflicted;
    const auto* kind = works[earlier_failure.owner - 1]->kind();
    switch (earlier_failure.kind) {
        case Kind::constraint:
        case Kind::fenced:
            run.threw.push_back(kind);
            return Split::threw;
        case Kind::statement:
        case Kind::refused:
            run.apart.push_back(kind);
            return Split::threw;
        default:
            return Split::conflicted;
    }
}

}  // namespace

SharedRun run_shared(
    const TransactionParts& parts,
    Works works,
    const std::vector<bool>& in_savepoint,
    OnCommit on_commit
) {
    PAWL_ASSERT(!works.empty());
    PAWL_ASSERT(in_savepoint.size() == works.size());
    for (const auto& work : works) PAWL_ASSERT(work->isolation() == works.front()->isolation());
    PAWL_ASSERT(works.front()->isolation() != Isolation::serializable);
    SharedRun run;
    run.failed.resize(works.size());
    try {
        run_all(parts, works, in_savepoint, on_commit, run);
    } catch (const StoreError& error) {
        if (error.effect() != StoreError::Effect::in_doubt) run.split = Split::conflicted;
        // All works: even one that failed by itself may have read a row that was never committed.
        for (auto& failed : run.failed) failed = std::make_exception_ptr(StoreError{error});
    } catch (const SplitRun& breaks_up) {
        run.split = breaks_up.why;
    }
    if (run.split != Split::no)
        if (const auto& earlier_failure = parts.connection.earlier_failure())
            run.split = broken_by(*earlier_failure, works, run);
    roll_back(parts.connection);  // If it is still open.
    parts.connection.clear_deadline();
    if (!parts.connection.usable()) return run;
    PAWL_ASSERT(!parts.connection.in_transaction());  // The next work's writes are not in this one.
    PAWL_ASSERT(!parts.connection.has_queued());
    return run;
}

}  // namespace pawl::postgres
