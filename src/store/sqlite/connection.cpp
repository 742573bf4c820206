#include "src/store/sqlite/connection.hpp"

#include "src/store/store.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>

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

// Whether a text is only white space and comments, as may follow a statement.
bool is_blank(std::string_view text) {
    while (!text.empty()) {
        if (text.starts_with("--")) {
            text.remove_prefix(std::min(text.find('\n'), text.size()));
        } else if (std::string_view{" \t\r\n;"}.find(text.front()) != text.npos) {
            text.remove_prefix(1);
        } else {
            return false;
        }
    }
    return true;
}

[[noreturn]] void fail_to_open(Kind kind, const std::string& why) {
    throw StoreError{kind, StoreError::Effect::none, "open", why};
}

// Once for the process, before its first connection: otherwise SQLite takes a global mutex at each
// allocation to count memory. If the program has used SQLite before, its own setting stays.
void configure_library() {
    static const int configured = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    (void)configured;
}

}  // namespace

Connection::Connection(
    const std::string& path, Mode mode, std::chrono::milliseconds busy_timeout, base::Clock& clock
)
    : clock_{clock} {
    configure_library();
    // No SQLITE_OPEN_URI: a second spelling of a path would bypass the owner's lock.
    const int flags = (mode == Mode::owner ? SQLITE_OPEN_CREATE : 0) | SQLITE_OPEN_READWRITE |
                      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    const int code = sqlite3_open_v2(path.c_str(), &db_, flags, nullptr);
    // Cursors and values of a phase's statements are allocated here instead of by malloc, unless
    // SQLite is built without, as Debian's is.
    if (code == SQLITE_OK && mode == Mode::owner)
        sqlite3_db_config(db_, SQLITE_DBCONFIG_LOOKASIDE, nullptr, 1'200, 400);
    if (code != SQLITE_OK) {
        const std::string why = db_ != nullptr ? sqlite3_errmsg(db_) : sqlite3_errstr(code);
        sqlite3_close_v2(db_);
        fail_to_open(kind_of(code), "the database " + path + " can't be opened: " + why);
    }
    try {
        configure(path, mode, busy_timeout);
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

void Connection::configure(
    const std::string& path, Mode mode, std::chrono::milliseconds busy_timeout
) {
    if (mode != Mode::reader && sqlite3_db_readonly(db_, "main") == 1)
        fail_to_open(
            Kind::read_only,
            "the database " + path + " can't be written: the file or its file system is read-only"
        );
    sqlite3_busy_timeout(db_, static_cast<int>(busy_timeout.count()));
    // FULL: a commit is on disk before its answer is sent. NORMAL could lose a recovery point.
    script(
        "configure",
        "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;"
        "PRAGMA cache_size = -8000;"
    );
    if (mode == Mode::reader)
        script("configure", "PRAGMA query_only = ON;");
    else
        check_application(path, mode);
    if (mode == Mode::owner) {
        // A file system without shared memory keeps the old mode, where readers block writers.
        if (pragma("PRAGMA journal_mode = WAL") != "wal" && path != ":memory:")
            fail_to_open(
                Kind::unavailable,
                "the database " + path +
                    " can't use a write-ahead log: is it on a network file system?"
            );
        // A checkpoint writes each page once, however often it has changed: after 16 MB it writes
        // half as much as after SQLite's 4 MB.
        script(
            "configure", "PRAGMA journal_size_limit = 67108864; PRAGMA wal_autocheckpoint = 4000;"
        );
    }
    sqlite3_set_authorizer(db_, &Connection::authorize, this);
    sqlite3_progress_handler(db_, 10'000, &Connection::progress, this);
    trusted_ = false;
}

// Also the first read of the file: refuses one that is damaged or no database.
void Connection::check_application(const std::string& path, Mode mode) {
    const auto found = pragma("PRAGMA application_id");
    if (found == std::to_string(application_id)) return;
    if (found == "0" && mode == Mode::tool) return;  // Its tables are checked later.
    if (found == "0")
        // tidy: allow sql: a constant number, and PRAGMA takes no parameters
        return script("configure", "PRAGMA application_id = " + std::to_string(application_id));
    fail_to_open(
        Kind::unavailable,
        "PAWL0004: the database " + path + " is not Pawl's: its application_id is " + found
    );
}

std::string Connection::pragma(const char* text) {
    sqlite3_stmt* statement = nullptr;
    int code = sqlite3_prepare_v2(db_, text, -1, &statement, nullptr);
    std::string value;
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        value = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail(code, "configure");
    return value;
}

// What a phase must not do: end or escape the transaction that it shares with others.
int Connection::
    authorize(void* self, int action, const char* name, const char*, const char*, const char*) {
    const auto& connection = *static_cast<Connection*>(self);
    if (connection.trusted_) return SQLITE_OK;
    switch (action) {
        case SQLITE_TRANSACTION:
        case SQLITE_SAVEPOINT:
        case SQLITE_ATTACH:
        case SQLITE_DETACH:
            return SQLITE_DENY;
        case SQLITE_PRAGMA:  // ALTER TABLE runs the first by itself for a column with a CHECK.
            return std::string_view{name} == "quick_check" ||
                           (connection.migrating_ && std::string_view{name} == "writable_schema")
                       ? SQLITE_OK
                       : SQLITE_DENY;
        default:
            return SQLITE_OK;
    }
}

int Connection::progress(void* self) {
    return static_cast<Connection*>(self)->deadline_passed() ? 1 : 0;
}

bool Connection::deadline_passed() const {
    return deadline_ && clock_.steady() >= *deadline_;
}

void Connection::set_deadline(std::chrono::milliseconds from_now) {
    deadline_ = clock_.steady() + from_now;
}

Prepared& Connection::prepare(const Sql& statement) {
    const auto at = prepared_.find(statement.sqlite.data());
    if (at != prepared_.end()) {
        if (statement.sqlite == sqlite3_sql(at->second->statement)) return *at->second;
        // Texts are usually constants; this one is a new text at the address of an earlier one.
        sqlite3_finalize(at->second->statement);
        prepared_.erase(at);
    }
    return *prepared_.emplace(statement.sqlite.data(), make(statement)).first->second;
}

std::unique_ptr<Prepared> Connection::make(const Sql& statement) {
    const auto text = statement.sqlite;
    const auto refusal = [&](const char* why) {
        return store::statement_error(Kind::statement, statement.name, why);
    };
    if (text.empty()) throw refusal(" has no text for SQLite");
    auto made = std::make_unique<Prepared>();
    made->parameters = detail::parameters_in(text);
    if (made->parameters > parameters_max) throw refusal(" has more than 32 parameters");
    const char* rest = nullptr;
    const int code = sqlite3_prepare_v3(
        db_,
        text.data(),
        static_cast<int>(text.size()),
        SQLITE_PREPARE_PERSISTENT,
        &made->statement,
        &rest
    );
    if (code != SQLITE_OK) fail(code, statement.name);
    // SQLite prepares the first statement of a text and silently ignores the rest.
    const auto prepared_size = static_cast<std::size_t>(rest - text.data());
    if (made->statement == nullptr || !is_blank(text.substr(prepared_size))) {
        sqlite3_finalize(made->statement);
        throw refusal(" is not one statement: cut it into several, each with a name");
    }
    for (int n = 1; n <= made->parameters; ++n)
        made->place[static_cast<std::size_t>(n - 1)] =
            sqlite3_bind_parameter_index(made->statement, ("$" + std::to_string(n)).c_str());
    return made;
}

void Connection::control(const char* text) {
    auto& statement = controls_[text];
    trusted_ =
        true;  // Also during the step: SQLite prepares a statement again after a schema change.
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
    migrating_ = true;
    const int code = sqlite3_exec(db_, std::string{text}.c_str(), nullptr, nullptr, nullptr);
    sqlite3_db_config(db_, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0, nullptr);  // It may have failed.
    migrating_ = false;
    if (code != SQLITE_OK) fail(code, name);
}

bool Connection::in_transaction() const {
    return sqlite3_get_autocommit(db_) == 0;
}

int Connection::changes() const {
    return sqlite3_changes(db_);
}

std::int64_t Connection::total_changes() const {
    return sqlite3_total_changes64(db_);
}

std::string Connection::file() const {
    const char* name = sqlite3_db_filename(db_, "main");
    return name != nullptr ? name : "";
}

bool Connection::has_moved() const {
    int moved = 0;
    sqlite3_file_control(db_, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return moved != 0;
}

void Connection::leave_log() {
    sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

bool Connection::deferred_key_broken() const {
    int broken = 0;
    int highest = 0;
    sqlite3_db_status(db_, SQLITE_DBSTATUS_DEFERRED_FKS, &broken, &highest, 0);
    return broken != 0;
}

void Connection::fail(int code, std::string_view statement) const {
    const auto kind = kind_of(code);
    std::string text = "statement " + std::string{statement} + ": " + sqlite3_errmsg(db_);
    if ((code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB) {
        text = "PAWL0005: the file " + file() + " is damaged or no database: " + text;
    }
    if (kind == Kind::deadline)
        text = "statement " + std::string{statement} + " was interrupted at its deadline";
    throw StoreError{kind, StoreError::Effect::none, statement, text};
}

}  // namespace pawl::sqlite
