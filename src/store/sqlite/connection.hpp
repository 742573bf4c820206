#pragma once

#include <pawl/error.hpp>
#include <pawl/statement.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

struct sqlite3;
struct sqlite3_stmt;

namespace pawl::sqlite {

// A statement that stays prepared on its connection, with the places of its parameters: `$n` is bound by name, as
// SQLite numbers parameters by first appearance.
struct Prepared {
    sqlite3_stmt* statement{};
    std::string_view name;
    int parameters{};
    int place[32]{};  // Of $1 to $32; 0 if the statement does not use it.
};

// One SQLite connection, used by one thread at a time. Every member throws StoreError.
class Connection {
public:
    enum class Mode { writer, reader };
    Connection(const std::string& path, Mode mode, std::chrono::milliseconds busy_timeout);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    Prepared& prepare(const Sql& statement);
    // For the store's own BEGIN, COMMIT, SAVEPOINT: passes the authorizer, which refuses these in all other SQL.
    void control(const char* text);
    void script(std::string_view name, std::string_view text);
    bool in_transaction() const;
    int changes() const;

    // Statements are interrupted from then on; nothing: never.
    void set_deadline(std::chrono::milliseconds from_now);
    void clear_deadline() { deadline_set_ = false; }
    bool deadline_passed() const;

    [[noreturn]] void fail(int code, std::string_view statement) const;

private:
    struct Control {
        const char* text;
        sqlite3_stmt* statement;
    };
    void configure(Mode mode, std::chrono::milliseconds busy_timeout);
    static int authorize(void* self, int action, const char* a, const char* b, const char* c, const char* d);
    static int progress(void* self);

    sqlite3* db_{};
    std::unordered_map<const char*, std::unique_ptr<Prepared>> prepared_;  // By the address of its text.
    std::unordered_map<std::string_view, sqlite3_stmt*> controls_;
    bool trusted_{true};  // The store's own SQL is being prepared.
    bool deadline_set_{false};
    std::chrono::steady_clock::time_point deadline_{};
};

}  // namespace pawl::sqlite
