#pragma once

#include <pawl/error.hpp>
#include <pawl/statement.hpp>

#include "src/base/clock.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

struct sqlite3;
struct sqlite3_stmt;

namespace pawl::sqlite {

inline constexpr int parameters_max = 32;

// A statement that stays prepared on its connection, with the index of each parameter: `$n` is
// bound by name, as SQLite numbers parameters by first appearance.
struct Prepared {
    sqlite3_stmt* statement{};
    int parameters{};
    std::array<int, parameters_max> place{};  // Of $1 to $32; 0: not used.
};

// "Pawl" as SQLite's application_id. A server marks its file with it, so that Pawl never writes to
// another program's file.
inline constexpr std::int64_t application_id = 0x5061776c;

// One SQLite connection, used by one thread at a time. Every member throws StoreError.
class Connection {
public:
    // owner: creates the file and marks it. tool: writes beside an owner, to an existing file.
    enum class Mode { owner, tool, reader };
    // Deadlines follow clock.steady(); the clock outlives the connection.
    Connection(
        const std::string& path,
        Mode mode,
        std::chrono::milliseconds busy_timeout,
        base::Clock& clock
    );
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    Prepared& prepare(const Sql& statement);
    // For the store's own BEGIN, COMMIT, SAVEPOINT: bypasses the authorizer, which refuses these in
    // all other SQL.
    void control(const char* text);
    void script(std::string_view name, std::string_view text);
    bool in_transaction() const;
    int changes() const;
    std::int64_t total_changes() const;
    // The path as SQLite has resolved it; "-wal" and "-shm" are beside it. Empty in memory.
    std::string file() const;
    // Whether the path now names another file, or none.
    bool has_moved() const;
    // On close, leaves the log as it is: writes nothing to the file and removes nothing.
    void leave_log();
    // Whether a deferred foreign key is violated: COMMIT would fail for all in the transaction.
    bool deferred_key_broken() const;

    // Statements are interrupted at the deadline; without one, never.
    void set_deadline(std::chrono::milliseconds from_now);
    void clear_deadline() { deadline_.reset(); }
    bool deadline_passed() const;

    [[noreturn]] void fail(int code, std::string_view statement) const;

private:
    void configure(const std::string& path, Mode mode, std::chrono::milliseconds busy_timeout);
    void check_application(const std::string& path, Mode mode);
    std::string pragma(const char* text);
    std::unique_ptr<Prepared> make(const Sql& statement);
    static int authorize(
        void* self, int action, const char* a, const char* b, const char* c, const char* d
    );
    static int progress(void* self);

    base::Clock& clock_;
    sqlite3* db_{};
    // By the address of its text.
    std::unordered_map<const char*, std::unique_ptr<Prepared>> prepared_;
    std::unordered_map<std::string_view, sqlite3_stmt*> controls_;
    bool trusted_{true};     // Set while the store's own SQL is prepared.
    bool migrating_{false};  // During script().
    std::optional<std::chrono::steady_clock::time_point> deadline_;
};

}  // namespace pawl::sqlite
