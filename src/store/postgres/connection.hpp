#pragma once

#include <pawl/detail/session.hpp>
#include <pawl/error.hpp>
#include <pawl/statement.hpp>

#include "src/base/clock.hpp"
#include "src/store/postgres/options.hpp"

#include <boost/functional/hash.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

struct pg_conn;
struct pg_result;

namespace pawl::postgres {

struct ClearResult {
    void operator()(pg_result* result) const;
};
using Result = std::unique_ptr<pg_result, ClearResult>;

// One connection in libpq's pipeline mode: statements are queued and sent together when the first
// answer is needed. For one thread at a time. Members throw StoreError, after which usable() says
// whether the connection still works.
class Connection {
public:
    // Connects within options.connect_timeout. Deadlines follow clock.steady().
    Connection(const PostgresOptions& options, base::Clock& clock);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    enum class Use {
        plain,
        fence,    // Raises in the database if it touches no row.
        begin,    // Its third column is the database's clock.
        control,  // The store's own BEGIN and the like.
        commit,   // If it fails, the outcome may be unknown.
    };
    void queue(const Sql& statement, std::span<const detail::Value> parameters, Use use);
    // For the store's own BEGIN, SAVEPOINT, ROLLBACK: skips the check of forbidden statements.
    void queue_control(const char* text);
    void queue_commit();
    // Sets a parameter of Use::begin if that was queued last; false otherwise.
    bool amend_begin(std::size_t parameter, std::string value);
    // Sends the queue and reads every answer. Returns the last one; throws the first failure.
    Result flush();
    // The same, but passes each answer on. From the first failure on, all get it, as they did not
    // run.
    using OnAnswer = detail::FunctionRef<void(Result answer, std::optional<StoreError> failed)>;
    void flush_each(OnAnswer on_answer);
    // Drops what is queued and not sent.
    void forget_queued() { queued_.clear(); }
    bool has_queued() const { return !queued_.empty(); }
    // A position in the queue, so that what is queued later can be dropped alone.
    struct Mark {
        std::size_t flushes{};
        std::size_t queued{};
    };
    Mark mark() const { return {flushes_, queued_.size()}; }
    void forget_queued_since(Mark mark) {
        queued_.resize(mark.flushes == flushes_ ? mark.queued : 0);
    }
    // Starts the next of the works that share the transaction. If a statement of an earlier work
    // fails at a later work's flush, the later one gets contention, and earlier_failure() is set
    // until the next transaction.
    void begin_next_work() { ++owner_; }
    struct EarlierFailure {
        std::size_t owner{};  // The work that failed: counts begin_next_work(), 0 before the first.
        StoreError::Kind kind{};
    };
    const std::optional<EarlierFailure>& earlier_failure() const { return earlier_failure_; }
    void set_earlier_failure(StoreError::Kind kind) {
        earlier_failure_ = EarlierFailure{owner_, kind};
    }
    void clear_earlier_failure() {
        earlier_failure_.reset();
        owner_ = 0;
    }
    // See sql_text.hpp; each text is parsed once.
    bool needs_own_transaction(const Sql& statement);
    // Runs several statements in one text, in the open transaction.
    void script(std::string_view name, std::string_view text);

    // Whether its session is ours alone. A pooler gives each transaction another one.
    bool is_ours() const { return is_ours_; }
    bool usable() const;
    // The connection must not be used again.
    void give_up() { dead_ = true; }
    // Between transactions: whether the database has not closed the connection, and is no standby.
    // Without a round trip.
    bool is_still_there();
    bool in_transaction() const;

    // Waiting for an answer beyond this ends the connection. The database should have interrupted
    // the statement a second before (statement_timeout).
    void set_deadline(std::chrono::milliseconds from_now);
    void clear_deadline() { deadline_.reset(); }
    bool deadline_passed() const;
    std::chrono::milliseconds time_left() const;  // Until the deadline; 0 after it.

    // The database's clock as last seen by this connection, advanced by the steady clock. nullopt:
    // last seen more than ten seconds ago.
    std::optional<TimePoint> database_now() const;
    void note_database_clock(std::int64_t ms_since_1970);

private:
    struct Queued {
        Sql statement;
        Use use{};
        std::size_t owner{};
        std::vector<std::optional<std::string>> values;
        bool combined{};  // Its text is complete, also that of a fence.
    };
    // A statement of which the database keeps the plan: by the text's address and use.
    using PreparedKey = std::pair<const char*, Use>;
    struct Prepared {
        std::string name;
        std::vector<bool> times;  // The parameters that are times; empty until it is described.
    };
    using AllPrepared = std::unordered_map<PreparedKey, Prepared, boost::hash<PreparedKey>>;
    static constexpr std::size_t combined_max = 6;
    enum class Step { prepare, describe, run };
    // The statement of an expected answer.
    struct Expected {
        std::string_view name;
        Use use{};
        std::size_t owner{};  // See begin_next_work().
        Step step{Step::run};
        const char* text{};  // Of a prepared statement.
    };

    // With rows that one work inserts in a row as one statement; not the last statement, whose
    // answer is awaited.
    static std::vector<Queued> gather_rows(std::vector<Queued> queued);
    // Makes one statement of the write of a key's row and the inserts next to it (ADR 42).
    std::vector<Queued> combine(std::vector<Queued> queued);
    std::string_view combined_text_of(std::span<const Queued> run);
    void send(const Queued& queued, std::vector<Expected>& expected);
    AllPrepared::iterator prepare(
        const Queued& queued, const std::string& text, std::vector<Expected>& expected
    );
    void note_prepared(const pg_result* answer, const Expected& entry);
    void wait_for_answer();
    Result next_answer();
    void refuse_copy(const pg_result* result);
    void read_answers(const std::vector<Expected>& expected, OnAnswer on_answer);
    StoreError failure(const pg_result* result, const Expected& entry);
    StoreError own_failure(const pg_result* result, const Expected& entry);
    void pin_session();
    [[noreturn]] void lost(std::string_view statement);
    void check(int sent);

    const PostgresOptions& options_;
    base::Clock& clock_;
    pg_conn* pg_{};
    std::vector<Queued> queued_;
    std::size_t flushes_{0};
    std::size_t owner_{0};
    std::optional<EarlierFailure> earlier_failure_;
    AllPrepared prepared_;
    // By the addresses of its parts. Never dropped: prepared_ knows a text by its address.
    std::map<std::array<const char*, combined_max>, std::string> combined_;
    std::uint64_t next_name_{1};
    std::unordered_set<const char*> allowed_;                // By the text's address.
    std::unordered_map<const char*, bool> own_transaction_;  // By the text's address.
    bool dead_{false};
    bool behind_standby_{false};
    bool is_ours_{false};
    std::optional<std::chrono::steady_clock::time_point> deadline_;
    struct Seen {
        std::int64_t ms{};
        std::chrono::steady_clock::time_point at;
    };
    std::optional<Seen> database_clock_;
};

}  // namespace pawl::postgres
