#pragma once

#include <pawl/detail/session.hpp>
#include <pawl/error.hpp>
#include <pawl/statement.hpp>

#include "src/base/clock.hpp"
#include "src/store/postgres/options.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct pg_conn;
struct pg_result;

namespace pawl::postgres {

struct ClearResult {
    void operator()(pg_result* result) const;
};
using Result = std::unique_ptr<pg_result, ClearResult>;

// One connection in libpq's pipeline mode: statements are queued and travel together, at the first
// one whose answer is wanted. Used by one thread at a time. Members throw StoreError, after which
// usable() says whether the connection is of any use.
class Connection {
public:
    // Connects, within options.connect_timeout. The clock's steady() rules the deadlines.
    Connection(const PostgresOptions& options, base::Clock& clock);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    enum class Use {
        plain,
        fence,    // Touching no row raises, in the database itself.
        begin,    // Its third column is the database's clock.
        control,  // The store's own BEGIN and the like.
        commit,   // Its failure may leave open whether it happened.
    };
    void queue(const Sql& statement, std::span<const detail::Value> parameters, Use use);
    // The store's own BEGIN, SAVEPOINT, ROLLBACK, without the check of what a statement may say.
    void queue_control(const char* text);
    void queue_commit();
    // Sets a parameter of Use::begin while that is the last that was queued; else false.
    bool amend_begin(std::size_t parameter, std::string value);
    // Sends what is queued and reads every answer. The last one's; throws the first failure.
    Result flush();
    // The same, and gives each answer as it comes; from the first failure on, that failure with
    // each: what follows it was not carried out.
    using OnAnswer = detail::FunctionRef<void(Result answer, std::optional<StoreError> failed)>;
    void flush_each(OnAnswer on_answer);
    // Throws away what was queued and not sent.
    void forget_queued() { queued_.clear(); }
    bool has_queued() const { return !queued_.empty(); }
    // What is queued at this moment, so that all that comes after can be thrown away alone.
    struct Mark {
        std::size_t flushes{};
        std::size_t queued{};
    };
    Mark mark() const { return {flushes_, queued_.size()}; }
    void forget_queued_since(Mark mark) {
        queued_.resize(mark.flushes == flushes_ ? mark.queued : 0);
    }
    // What is queued from here on belongs to the next of the works that share the transaction. If
    // what is another's fails, it is no fault of the one at whose flush it comes out: contention,
    // and spoilt() from then on, until the next transaction.
    void own_from_here() { ++owner_; }
    struct Spoilt {
        std::size_t owner{};  // Of what failed: counts own_from_here(), 0 before the first.
        StoreError::Kind kind{};
    };
    const std::optional<Spoilt>& spoilt() const { return spoilt_; }
    void spoil(StoreError::Kind kind) { spoilt_ = Spoilt{owner_, kind}; }
    void clear_spoilt() {
        spoilt_.reset();
        owner_ = 0;
    }
    // As sql_text.hpp says it of the statement's text, which is read once.
    bool needs_own_transaction(const Sql& statement);
    // Several statements in one text, in the open transaction.
    void script(std::string_view name, std::string_view text);

    bool usable() const;
    // It is used no more.
    void give_up() { dead_ = true; }
    // Between two transactions: whether the database has not taken its leave meanwhile. A look at
    // the socket, no message.
    bool is_still_there();
    bool in_transaction() const;

    // Waiting for an answer past this ends the connection: the database itself should have
    // interrupted the statement a second before (statement_timeout).
    void set_deadline(std::chrono::milliseconds from_now);
    void clear_deadline() { deadline_.reset(); }
    bool deadline_passed() const;
    std::chrono::milliseconds time_left() const;  // To the deadline; 0 behind it.

    // The database's clock, as this connection last saw it, moved on by the steady clock. Nothing
    // if that is more than ten seconds ago.
    std::optional<TimePoint> database_now() const;
    void note_database_clock(std::int64_t ms_since_1970);

private:
    struct Queued {
        Sql statement;
        Use use{};
        std::size_t owner{};
        std::vector<std::optional<std::string>> values;
    };
    // What an answer that is to come belongs to.
    struct Expected {
        std::string_view name;
        Use use{};
        const char* prepares{};  // The text that becomes a named statement by this.
        std::size_t owner{};     // See own_from_here().
    };

    void send(const Queued& queued, std::vector<Expected>& expected);
    void wait_for_answer();
    Result next_answer();
    void refuse_copy(const pg_result* result);
    void read_answers(const std::vector<Expected>& expected, OnAnswer on_answer);
    StoreError failure(const pg_result* result, const Expected& of);
    StoreError own_failure(const pg_result* result, const Expected& of);
    [[noreturn]] void lost(std::string_view statement);
    void check(int sent);

    const PostgresOptions& options_;
    base::Clock& clock_;
    pg_conn* pg_{};
    std::vector<Queued> queued_;
    std::size_t flushes_{0};
    std::size_t owner_{0};
    std::optional<Spoilt> spoilt_;
    // What is prepared on this connection, by the text's address and its use: its name there.
    std::map<std::pair<const char*, Use>, std::string> prepared_;
    std::uint64_t next_name_{1};
    std::map<const char*, bool> own_transaction_;  // By the text's address, as above.
    bool dead_{false};
    std::optional<std::chrono::steady_clock::time_point> deadline_;
    struct Seen {
        std::int64_t ms{};
        std::chrono::steady_clock::time_point at;
    };
    std::optional<Seen> database_clock_;
};

}  // namespace pawl::postgres
