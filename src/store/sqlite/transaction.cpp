#include "src/store/sqlite/transaction.hpp"

#include "src/core/fault.hpp"
#include "src/store/sqlite/sqlite_session.hpp"

#include <string>

namespace pawl::sqlite {

namespace {

using Kind = StoreError::Kind;
using Effect = StoreError::Effect;

void run_checked(Connection& connection, base::Clock& clock, store::Work& work) {
    SqliteSession session{connection, clock, SqliteSession::Mode::write};
    session.run_phase(work);
    // Checked for each work: COMMIT could not name the cause, and would fail for all.
    if (connection.deferred_key_broken())
        throw StoreError{
            Kind::constraint, Effect::rolled_back, "", "a deferred foreign key is violated"};
}

std::exception_ptr undone(Kind kind, const std::string& why) {
    return std::make_exception_ptr(StoreError{
        kind, Effect::rolled_back, "", "the transaction was undone: " + why});
}

}  // namespace

std::exception_ptr begin(Connection& connection) {
    try {
        connection.control("BEGIN IMMEDIATE");
        return nullptr;
    } catch (const StoreError& error) {
        if (error.kind() == Kind::busy)
            return undone(
                Kind::busy,
                "another process holds the database's lock; if it is a server whose phase does not "
                "come back, see PAWL0031"
            );
        return undone_with(std::current_exception());
    }
}

std::exception_ptr run_work(Connection& connection, base::Clock& clock, store::Work& work) {
    std::exception_ptr failed;
    try {
        connection.set_deadline(work.deadline());
        run_checked(connection, clock, work);
    } catch (...) {
        failed = std::current_exception();
    }
    connection.clear_deadline();
    return failed;
}

std::exception_ptr run_in_savepoint(Connection& connection, base::Clock& clock, store::Work& work) {
    std::exception_ptr failed;
    try {
        connection.control("SAVEPOINT work");
        failed = run_work(connection, clock, work);
        if (connection.in_transaction()) {
            if (failed) connection.control("ROLLBACK TO work");
            connection.control("RELEASE work");
        }
    } catch (const StoreError&) {
        if (!failed) failed = std::current_exception();
        roll_back(connection);  // The caller checks in_transaction().
    }
    return failed;
}

std::exception_ptr run_read(Connection& connection, base::Clock& clock, store::Work& work) {
    std::exception_ptr failed;
    try {
        connection.control("BEGIN");
        connection.set_deadline(work.deadline());
        SqliteSession session{connection, clock, SqliteSession::Mode::read};
        work.run(session);
    } catch (...) {
        failed = std::current_exception();
    }
    connection.clear_deadline();
    roll_back(connection);
    return failed;
}

// A failed COMMIT is rolled back in this process, and no answer was sent. But its frames may still
// be in the WAL: the next writer overwrites them, while a crash before that may find and keep them.
// So the effect is in doubt; the engine takes every key as it finds it, which is correct either
// way. A lock or a constraint refuses before the first frame is written.
std::exception_ptr commit(Connection& connection) {
    try {
        PAWL_FAULT("sqlite.commit.before");
        connection.control("COMMIT");
        PAWL_FAULT("sqlite.commit.after");
        return nullptr;
    } catch (const StoreError& error) {
        const bool refused = error.kind() == Kind::busy || error.kind() == Kind::constraint;
        return std::make_exception_ptr(StoreError{
            error.transient() ? error.kind() : Kind::unavailable,
            refused ? Effect::rolled_back : Effect::in_doubt,
            "commit",
            error.what()});
    } catch (...) {
        return std::make_exception_ptr(StoreError{
            Kind::unavailable, Effect::in_doubt, "commit", "the commit was cut off"});
    }
}

void roll_back(Connection& connection) noexcept {
    try {
        if (connection.in_transaction()) connection.control("ROLLBACK");
    } catch (const StoreError&) {
        // The next BEGIN reports the problem.
    }
}

std::exception_ptr undone_with(const std::exception_ptr& cause) {
    if (!cause) return undone(Kind::unavailable, "it was ended early");
    try {
        std::rethrow_exception(cause);
    } catch (const StoreError& error) {
        // The deadline was another work's.
        const bool ours = error.transient() && error.kind() != Kind::deadline;
        return undone(ours ? error.kind() : Kind::unavailable, error.what());
    } catch (...) {
        return undone(Kind::unavailable, "one that shared it ended it early");
    }
}

std::exception_ptr copy_of(const std::exception_ptr& undone) {
    if (!undone) return nullptr;
    try {
        std::rethrow_exception(undone);
    } catch (const StoreError& error) {
        return std::make_exception_ptr(StoreError{error});
    }
}

}  // namespace pawl::sqlite
