#include "src/store/sqlite/connection.hpp"

#include "src/core/assert.hpp"

#include <sqlite3.h>

#include <charconv>
#include <cstring>

namespace pawl::sqlite {

namespace {

using Kind = StoreError::Kind;

Kind kind_of(int code) {
    switch (code & 0xff) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return Kind::busy;
        case SQLITE_FULL:
            return Kind::full;
        case SQLITE_READONLY:
            return Kind::read_only;
        case SQLITE_IOERR:
        case SQLITE_CANTOPEN:
        case SQLITE_NOTADB:
        case SQLITE_CORRUPT:
        case SQLITE_NOMEM:
        case SQLITE_PROTOCOL:
            return Kind::unavailable;
        case SQLITE_CONSTRAINT:
            return Kind::constraint;
        case SQLITE_INTERRUPT:
            return Kind::deadline;
        case SQLITE_AUTH:
            return Kind::refused;
        default:
            return Kind::statement;
    }
}

// The steady clock is the store's own here: a deadline is not a fact of the data.
std::chrono::steady_clock::time_point steady_now() {
    return std::chrono::steady_clock::now();  // tidy: allow clock: interrupts a statement, decides nothing
}

// Once for the process, before its first connection: without it each allocation of SQLite takes a global mutex to count
// itself. A program that uses SQLite on its own before has decided otherwise, which is fine.
void configure_library() {
    static const int configured = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    (void)configured;
}

}  // namespace

Connection::Connection(const std::string& path, Mode mode, std::chrono::milliseconds busy_timeout) {
    configure_library();
    const int flags = (mode == Mode::writer ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE) |
                      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI;
    const int code = sqlite3_open_v2(path.c_str(), &db_, flags, nullptr);
    // Room for the cursors and values of a phase's statements: they come from here instead of malloc.
    if (code == SQLITE_OK && mode == Mode::writer)
        sqlite3_db_config(db_, SQLITE_DBCONFIG_LOOKASIDE, nullptr, 1'200, 400);
    if (code != SQLITE_OK) {
        const std::string why = db_ != nullptr ? sqlite3_errmsg(db_) : sqlite3_errstr(code);
        sqlite3_close_v2(db_);
        throw StoreError{kind_of(code), StoreError::Effect::none, "open", "the database " + path + " can't be opened: " + why};
    }
    try {
        configure(mode, busy_timeout);
    } catch (...) {
        sqlite3_close_v2(db_);
        throw;
    }
}

Connection::~Connection() {
    for (auto& [text, prepared] : prepared_) sqlite3_finalize(prepared->statement);
    for (auto& [text, statement] : controls_) sqlite3_finalize(statement);
    sqlite3_close_v2(db_);
}

void Connection::configure(Mode mode, std::chrono::milliseconds busy_timeout) {
    sqlite3_busy_timeout(db_, static_cast<int>(busy_timeout.count()));
    // FULL: a commit is on the disk before anybody is answered. NORMAL could lose a recovery point before a charge.
    script("configure", "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;"
                        "PRAGMA cache_size = -8000;");
    if (mode == Mode::writer)
        script("configure", "PRAGMA journal_mode = WAL; PRAGMA journal_size_limit = 67108864;");
    else
        script("configure", "PRAGMA query_only = ON;");
    sqlite3_set_authorizer(db_, &Connection::authorize, this);
    sqlite3_progress_handler(db_, 10'000, &Connection::progress, this);
    trusted_ = false;
}

// What a phase must not do: it would end or escape the transaction that it shares with others.
int Connection::authorize(void* self, int action, const char*, const char*, const char*, const char*) {
    if (static_cast<Connection*>(self)->trusted_) return SQLITE_OK;
    switch (action) {
        case SQLITE_TRANSACTION:
        case SQLITE_SAVEPOINT:
        case SQLITE_ATTACH:
        case SQLITE_DETACH:
        case SQLITE_PRAGMA:
            return SQLITE_DENY;
        default:
            return SQLITE_OK;
    }
}

int Connection::progress(void* self) { return static_cast<Connection*>(self)->deadline_passed() ? 1 : 0; }

bool Connection::deadline_passed() const { return deadline_set_ && steady_now() >= deadline_; }

void Connection::set_deadline(std::chrono::milliseconds from_now) {
    deadline_ = steady_now() + from_now;
    deadline_set_ = true;
}

Prepared& Connection::prepare(const Sql& statement) {
    auto& slot = prepared_[statement.sqlite.data()];
    // Texts are constants as a rule; one on the heap may have had the address of an earlier one.
    if (slot && statement.sqlite == sqlite3_sql(slot->statement)) return *slot;
    if (slot) {
        sqlite3_finalize(slot->statement);
        slot.reset();
    }
    if (statement.sqlite.empty())
        throw StoreError{
            Kind::statement, StoreError::Effect::none, statement.name,
            "statement " + std::string{statement.name} + " has no text for SQLite"};
    auto made = std::make_unique<Prepared>();
    made->name = statement.name;
    const int code = sqlite3_prepare_v3(
        db_, statement.sqlite.data(), static_cast<int>(statement.sqlite.size()), SQLITE_PREPARE_PERSISTENT,
        &made->statement, nullptr
    );
    if (code != SQLITE_OK) {
        prepared_.erase(statement.sqlite.data());
        fail(code, statement.name);
    }
    made->parameters = detail::parameters_in(statement.sqlite);
    PAWL_ASSERT(made->parameters <= 32);
    for (int n = 1; n <= made->parameters; ++n)
        made->place[n - 1] = sqlite3_bind_parameter_index(made->statement, ("$" + std::to_string(n)).c_str());
    slot = std::move(made);
    return *slot;
}

void Connection::control(const char* text) {
    auto& statement = controls_[text];
    trusted_ = true;  // Over the step too: SQLite prepares a statement again when the schema has changed.
    int code = SQLITE_OK;
    if (statement == nullptr)
        code = sqlite3_prepare_v3(db_, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (code == SQLITE_OK) {
        code = sqlite3_step(statement);
        sqlite3_reset(statement);
    }
    trusted_ = false;
    if (code != SQLITE_DONE) fail(code, text);
}

void Connection::script(std::string_view name, std::string_view text) {
    const int code = sqlite3_exec(db_, std::string{text}.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail(code, name);
}

bool Connection::in_transaction() const { return sqlite3_get_autocommit(db_) == 0; }

int Connection::changes() const { return sqlite3_changes(db_); }

void Connection::fail(int code, std::string_view statement) const {
    const auto kind = kind_of(code);
    std::string text = "statement " + std::string{statement} + ": " + sqlite3_errmsg(db_);
    if (kind == Kind::deadline) text = "statement " + std::string{statement} + " was interrupted at its deadline";
    throw StoreError{kind, StoreError::Effect::none, statement, text};
}

}  // namespace pawl::sqlite
