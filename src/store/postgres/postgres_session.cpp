#include "src/store/postgres/postgres_session.hpp"

#include "src/core/assert.hpp"
#include "src/store/postgres/row.hpp"
#include "store/postgres/session.hpp"

#include <postgresql/libpq-fe.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace pawl::postgres {

namespace {

using detail::Value;
using Use = Connection::Use;

constexpr std::size_t begin_lock_timeout = 1;  // The index of this parameter of begin_work.

// Rows that the statement changed; 0 for a SELECT, whose tag counts found rows.
std::int64_t changed_by(const pg_result* result) {
    const std::string_view tag = PQcmdStatus(const_cast<pg_result*>(result));
    if (tag.starts_with("SELECT")) return 0;
    const std::string_view count = PQcmdTuples(const_cast<pg_result*>(result));
    std::int64_t changed = 0;
    std::from_chars(count.data(), count.data() + count.size(), changed);
    return changed;
}

// One name for each depth: the statements that close an inner savepoint may be dropped unsent
// together with those of the outer one, whose ROLLBACK TO must not match the inner one then.
constexpr std::size_t attempts_max = 8;
struct SavepointNames {
    const char* open;
    const char* undo;
    const char* close;
};
SavepointNames names_of(std::size_t depth) {
    static constexpr std::array<SavepointNames, attempts_max> all{
        {{"SAVEPOINT attempt_1", "ROLLBACK TO SAVEPOINT attempt_1", "RELEASE SAVEPOINT attempt_1"},
         {"SAVEPOINT attempt_2", "ROLLBACK TO SAVEPOINT attempt_2", "RELEASE SAVEPOINT attempt_2"},
         {"SAVEPOINT attempt_3", "ROLLBACK TO SAVEPOINT attempt_3", "RELEASE SAVEPOINT attempt_3"},
         {"SAVEPOINT attempt_4", "ROLLBACK TO SAVEPOINT attempt_4", "RELEASE SAVEPOINT attempt_4"},
         {"SAVEPOINT attempt_5", "ROLLBACK TO SAVEPOINT attempt_5", "RELEASE SAVEPOINT attempt_5"},
         {"SAVEPOINT attempt_6", "ROLLBACK TO SAVEPOINT attempt_6", "RELEASE SAVEPOINT attempt_6"},
         {"SAVEPOINT attempt_7", "ROLLBACK TO SAVEPOINT attempt_7", "RELEASE SAVEPOINT attempt_7"},
         {"SAVEPOINT attempt_8",
          "ROLLBACK TO SAVEPOINT attempt_8",
          "RELEASE SAVEPOINT attempt_8"}}};
    return all.at(depth);
}

}  // namespace

void PostgresSession::queue(
    const Sql& statement, std::span<const Value> parameters, Connection::Use use
) {
    refuse_after_failure(statement.name);
    failed_ = true;
    if (in_ == In::shared_one && connection_.needs_own_transaction(statement)) {
        needs_own_ = true;
        connection_.set_earlier_failure(StoreError::Kind::refused);
        throw store::statement_error(
            StoreError::Kind::contention, statement.name, " needs a transaction of its own"
        );
    }
    connection_.queue(statement, parameters, use);
    failed_ = false;
}

Result PostgresSession::flush() {
    failed_ = true;
    has_sent_ = false;
    try {
        auto result = connection_.flush();
        failed_ = false;
        return result;
    } catch (const StoreError& error) {
        note_failure(error);
        throw;
    }
}

std::int64_t PostgresSession::run(
    const Sql& statement,
    std::span<const Value> parameters,
    detail::FunctionRef<void(const detail::Row&)> each
) {
    queue(statement, parameters, Use::plain);
    const auto result = flush();
    failed_ = true;
    PostgresRow row{result.get(), statement.name};
    const int rows = PQntuples(result.get());
    for (int i = 0; i < rows; ++i) {
        row.at(i);
        each(row);
    }
    failed_ = false;
    return changed_by(result.get());
}

void PostgresSession::send(const Sql& statement, std::span<const Value> parameters) {
    queue(statement, parameters, Use::plain);
    has_sent_ = true;
}

void PostgresSession::fence(const Sql& statement, std::span<const Value> parameters) {
    queue(statement, parameters, Use::fence);
    has_sent_ = true;
}

// A shared transaction has its own lock timeout, shorter than any.
void PostgresSession::set_lock_timeout(std::chrono::milliseconds timeout) {
    if (in_ == In::shared_one) return;
    auto text = std::to_string(timeout.count());
    if (connection_.amend_begin(begin_lock_timeout, text)) return;
    const std::array<Value, 1> values{std::string_view{text}};
    queue(sql::postgres::set_lock_timeout, values, Use::plain);
}

// PostgreSQL's own errors do not name the lock.
StoreError PostgresSession::lock_not_had(
    std::string_view name, const StoreError& why, bool by_deadline
) {
    const bool waited =
        why.kind() == StoreError::Kind::locked || why.kind() == StoreError::Kind::deadline;
    if (!waited || why.statement() != sql::postgres::lock_name.name) return why;
    const bool late = by_deadline || why.kind() == StoreError::Kind::deadline;
    return {
        late ? StoreError::Kind::deadline : StoreError::Kind::busy,
        why.effect(),
        why.statement(),
        "the lock '" + std::string{name} + "' is held by another transaction, " +
            (late ? "and the deadline passed first" : "for longer than the lock timeout")};
}

void PostgresSession::lock_name(
    std::string_view name, std::int64_t number, std::chrono::milliseconds timeout
) {
    const std::array<Value, 1> values{number};
    const auto left = connection_.time_left();
    set_lock_timeout(std::max(std::min(timeout, left), std::chrono::milliseconds{1}));
    queue(sql::postgres::lock_name, values, Use::plain);
    try {
        (void)flush();
    } catch (const StoreError& error) {
        const auto why = lock_not_had(name, error, in_ == In::own_transaction && left <= timeout);
        note_failure(why);
        throw StoreError{why};
    }
    set_lock_timeout(std::chrono::milliseconds{0});
}

bool PostgresSession::try_lock_name(std::int64_t number) {
    const std::array<Value, 1> values{number};
    bool locked = false;
    run(sql::postgres::try_lock_name, values, [&](const detail::Row& row) {
        locked = row.integer(0) == 1;
    });
    return locked;
}

void PostgresSession::run_script(const Sql& script) {
    refuse_after_failure(script.name);
    failed_ = true;
    connection_.script(script.name, script.postgres);
    failed_ = false;
}

void PostgresSession::savepoint() {
    refuse_after_failure("savepoint");
    if (savepoints_.size() >= attempts_max)
        throw StoreError{
            StoreError::Kind::refused,
            StoreError::Effect::none,
            "savepoint",
            "more than " + std::to_string(attempts_max) + " attempts are within each other"};
    // Errors of statements sent before belong before this savepoint.
    if (has_sent_) (void)flush();
    connection_.queue_control(names_of(savepoints_.size()).open);
    savepoints_.push_back(connection_.mark());
}

// What was queued before the savepoint, and the savepoint itself, are still sent.
void PostgresSession::roll_back_to() {
    PAWL_ASSERT(!savepoints_.empty());
    connection_.forget_queued_since(savepoints_.back());
    has_sent_ = false;
    savepoints_.pop_back();
    if (!connection_.usable() || connection_.earlier_failure()) return;
    const auto names = names_of(savepoints_.size());
    connection_.queue_control(names.undo);
    connection_.queue_control(names.close);
    forget_failure();
}

void PostgresSession::release() {
    PAWL_ASSERT(!savepoints_.empty());
    refuse_after_failure("release");
    (void)flush();  // Errors of statements sent within belong to this savepoint.
    savepoints_.pop_back();
    connection_.queue_control(names_of(savepoints_.size()).close);
}

// The database's time, by the clock that came with BEGIN or was seen shortly before.
TimePoint PostgresSession::now() {
    if (!options_.database_clock) return clock_.now();
    if (const auto known = connection_.database_now()) return *known;
    std::int64_t ms = 0;
    run(sql::postgres::database_clock, {}, [&](const detail::Row& row) { ms = row.integer(0); });
    connection_.note_database_clock(ms);
    return *connection_.database_now();
}

}  // namespace pawl::postgres
