#include "src/store/postgres/transaction.hpp"

#include "src/core/fault.hpp"
#include "src/store/postgres/postgres_session.hpp"
#include "store/postgres/session.hpp"

#include <postgresql/libpq-fe.h>

#include <array>
#include <string>

namespace pawl::postgres {

namespace {

using Kind = StoreError::Kind;
using Effect = StoreError::Effect;

constexpr std::chrono::seconds rollback_time{2};

const char* begin_text(Isolation isolation) {
    switch (isolation) {
        case Isolation::read_committed:
            return "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
        case Isolation::repeatable_read:
            return "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE";
        case Isolation::serializable:
            break;
    }
    return "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE";
}

}  // namespace

void queue_limits(
    Connection& connection,
    std::chrono::milliseconds deadline,
    std::chrono::milliseconds lock_timeout
) {
    connection.clear_earlier_failure();
    connection.set_deadline(deadline);
    const auto limit = std::to_string(std::max<std::int64_t>(deadline.count(), 1));
    const auto timeout = std::to_string(lock_timeout.count());
    const std::array<detail::Value, 2> values{std::string_view{limit}, std::string_view{timeout}};
    const auto& begin =
        connection.is_ours() ? sql::postgres::begin_work : sql::postgres::begin_pooled_work;
    connection.queue(begin, values, Connection::Use::begin);
}

void queue_begin(
    Connection& connection,
    Isolation isolation,
    std::chrono::milliseconds deadline,
    std::chrono::milliseconds lock_timeout
) {
    connection.queue_control(begin_text(isolation));
    queue_limits(connection, deadline, lock_timeout);
}

void roll_back(Connection& connection) noexcept {
    try {
        connection.forget_queued();
        if (!connection.usable() || !connection.in_transaction()) return;
        connection.set_deadline(rollback_time);
        connection.queue_control("ROLLBACK");
        (void)connection.flush();
    } catch (const StoreError&) {
        // The connection is not used again.
    }
    if (connection.in_transaction()) connection.give_up();
}

void commit(Connection& connection) {
    PAWL_FAULT("postgres.commit.before");
    connection.queue_commit();
    Result answer;
    try {
        answer = connection.flush();
    } catch (const StoreError& error) {
        if (connection.usable() && error.effect() != Effect::in_doubt)
            throw StoreError{error.kind(), Effect::rolled_back, error.statement(), error.what()};
        throw StoreError{
            Kind::unavailable,
            Effect::in_doubt,
            "commit",
            std::string{"the commit got no answer: "} + error.what()};
    }
    // COMMIT of a failed transaction answers ROLLBACK without an error (prototype.md, trap 2).
    if (std::string_view{PQcmdStatus(answer.get())} != "COMMIT")
        throw StoreError{
            Kind::refused, Effect::rolled_back, "commit", "the transaction had already failed"};
    PAWL_FAULT("postgres.commit.after");
}

namespace {

void run_once(const TransactionParts& parts, store::Work& work) {
    auto& connection = parts.connection;
    queue_begin(connection, work.isolation(), work.deadline());
    PostgresSession session{connection, parts.options, parts.clock};
    session.run_phase(work);
    commit(connection);
}

// The work runs again on another connection. On this one its COMMIT would be in doubt.
StoreError cannot_roll_back() {
    return {
        Kind::unavailable,
        Effect::rolled_back,
        "rollback",
        "the work met another transaction, and the database did not answer ROLLBACK"};
}

bool conflicted(const std::exception_ptr& failed) {
    return store::is_store_error(failed, [](const StoreError& error) {
        return error.kind() == Kind::contention && error.effect() != Effect::in_doubt;
    });
}

}  // namespace

std::exception_ptr run_write(const TransactionParts& parts, store::Work& work) {
    for (int n = 0;; ++n) {
        std::exception_ptr failed;
        try {
            run_once(parts, work);
        } catch (...) {
            failed = std::current_exception();
        }
        if (failed) roll_back(parts.connection);
        parts.connection.clear_deadline();
        if (!failed) return nullptr;
        if (!conflicted(failed)) return failed;
        if (!parts.connection.usable()) return std::make_exception_ptr(cannot_roll_back());
        if (n >= parts.options.reruns_max || !parts.wait(n + 1)) return failed;
    }
}

std::exception_ptr run_read(const TransactionParts& parts, store::Work& work) {
    auto& connection = parts.connection;
    std::exception_ptr failed;
    try {
        connection.queue_control("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
        queue_limits(connection, work.deadline());
        PostgresSession session{connection, parts.options, parts.clock};
        work.run(session);
    } catch (const StoreError& error) {
        // Pawl itself asked for READ ONLY, so this is a bug of the program, not a standby.
        failed = error.kind() == Kind::read_only
                     ? std::make_exception_ptr(StoreError{
                           Kind::refused, Effect::none, error.statement(), error.what()})
                     : std::current_exception();
    } catch (...) {
        failed = std::current_exception();
    }
    return failed;
}

void end_read(Connection& connection) {
    roll_back(connection);
    connection.clear_deadline();
}

}  // namespace pawl::postgres
