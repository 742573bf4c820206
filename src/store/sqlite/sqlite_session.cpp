#include "src/store/sqlite/sqlite_session.hpp"

#include "src/core/assert.hpp"

#include <sqlite3.h>

#include <memory>
#include <string>

namespace pawl::sqlite {

namespace {

using detail::Value;

class SqliteRow final : public detail::Row {
public:
    SqliteRow(sqlite3_stmt* statement, std::string_view name)
        : statement_{statement}, name_{name} {}

    int columns() const override { return sqlite3_column_count(statement_); }
    bool is_null(int column) const override { return type(column) == SQLITE_NULL; }
    std::int64_t integer(int column) const override {
        if (type(column) != SQLITE_INTEGER) wrong(column, "a whole number");
        return sqlite3_column_int64(statement_, column);
    }
    double real(int column) const override {
        if (type(column) != SQLITE_FLOAT && type(column) != SQLITE_INTEGER)
            wrong(column, "a number");
        return sqlite3_column_double(statement_, column);
    }
    std::string_view text(int column) const override {
        if (type(column) != SQLITE_TEXT) wrong(column, "text");
        const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
        return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
    }
    std::string_view bytes(int column) const override {
        if (type(column) != SQLITE_BLOB) wrong(column, "bytes");
        const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
        return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
    }

private:
    int type(int column) const {
        if (column < 0 || column >= columns()) wrong(column, "there");
        return sqlite3_column_type(statement_, column);
    }
    [[noreturn]] void wrong(int column, const char* wanted) const {
        const char* name = sqlite3_column_name(statement_, column);
        throw store::statement_error(
            StoreError::Kind::statement,
            name_,
            ": column " + (name != nullptr ? std::string{name} : std::to_string(column)) +
                " is not " + wanted
        );
    }

    sqlite3_stmt* statement_;
    std::string_view name_;
};

// Binds without copying: texts and bytes outlive the step.
int bind(sqlite3_stmt* statement, int place, const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value))
        return sqlite3_bind_int64(statement, place, *integer);
    if (const auto* real = std::get_if<double>(&value))
        return sqlite3_bind_double(statement, place, *real);
    if (const auto* text = std::get_if<std::string_view>(&value))
        return sqlite3_bind_text64(
            statement,
            place,
            text->data() != nullptr ? text->data() : "",
            text->size(),
            SQLITE_STATIC,
            SQLITE_UTF8
        );
    if (const auto* blob = std::get_if<detail::Bytes>(&value))
        return sqlite3_bind_blob64(
            statement,
            place,
            blob->bytes.data() != nullptr ? blob->bytes.data() : "",
            blob->bytes.size(),
            SQLITE_STATIC
        );
    return sqlite3_bind_null(statement, place);
}

}  // namespace

SqliteSession::SqliteSession(Connection& connection, base::Clock& clock, Mode mode)
    : connection_{connection}, clock_{clock}, mode_{mode} {}

std::int64_t SqliteSession::run(
    const Sql& statement,
    std::span<const Value> parameters,
    detail::FunctionRef<void(const detail::Row&)> each
) {
    refuse_after_failure(statement.name);
    try {
        return run_checked(statement, parameters, each);
    } catch (const StoreError& error) {
        note_failure(error);
        throw;
    }
}

std::int64_t SqliteSession::run_checked(
    const Sql& statement,
    std::span<const Value> parameters,
    detail::FunctionRef<void(const detail::Row&)> each
) {
    failed_ = true;
    auto& prepared = connection_.prepare(statement);
    PAWL_ASSERT(static_cast<int>(parameters.size()) == prepared.parameters);
    const bool reads = sqlite3_stmt_readonly(prepared.statement) != 0;
    if (!reads) refuse_a_write(statement.name);
    // Resets the statement on every path: COMMIT fails while one is not reset.
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> reset{
        prepared.statement, &sqlite3_reset};
    const auto before = connection_.total_changes();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (prepared.place[i] == 0) continue;
        const int code = bind(prepared.statement, prepared.place[i], parameters[i]);
        if (code != SQLITE_OK) connection_.fail(code, statement.name);
    }
    const SqliteRow row{prepared.statement, statement.name};
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(prepared.statement)) == SQLITE_ROW) each(row);
    if (code != SQLITE_DONE) connection_.fail(code, statement.name);
    failed_ = false;
    // changes() is of the last INSERT, UPDATE or DELETE, perhaps an earlier one.
    return reads || connection_.total_changes() == before ? 0 : connection_.changes();
}

void SqliteSession::fence(const Sql& statement, std::span<const Value> parameters) {
    try {
        Session::fence(statement, parameters);
    } catch (const StoreError& error) {
        note_failure(error);
        throw;
    }
}

void SqliteSession::run_script(const Sql& script) {
    refuse_after_failure(script.name);
    refuse_a_write(script.name);
    failed_ = true;
    connection_.script(script.name, script.sqlite);
    failed_ = false;
}

void SqliteSession::savepoint() {
    refuse_after_failure("savepoint");
    if (mode_ == Mode::write) connection_.control("SAVEPOINT inner");
    ++depth_;
}

void SqliteSession::roll_back_to() {
    PAWL_ASSERT(depth_ > 0);
    --depth_;
    if (mode_ == Mode::write && connection_.in_transaction()) {
        connection_.control("ROLLBACK TO inner");
        connection_.control("RELEASE inner");
        forget_failure();
    }
}

void SqliteSession::release() {
    PAWL_ASSERT(depth_ > 0);
    refuse_after_failure("release");
    if (mode_ == Mode::write) connection_.control("RELEASE inner");
    --depth_;
}

TimePoint SqliteSession::now() {
    return clock_.now();
}

void SqliteSession::refuse_a_write(std::string_view statement) const {
    if (mode_ == Mode::read)
        throw store::statement_error(
            StoreError::Kind::refused, statement, " writes, in a transaction that only reads"
        );
}

}  // namespace pawl::sqlite
