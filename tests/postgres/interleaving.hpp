#pragma once

#include <pawl/statement.hpp>

#include <poll.h>
#include <postgresql/libpq-fe.h>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// Two sessions of a database, and every possible order of their statements, as PostgreSQL's
// isolation tester does it (src/test/isolation/README there): one statement at a time; one that
// waits for a lock of the other session is left waiting, and the other goes on. Orders in which a
// waiting session would have to move do not exist, and are not tried.
namespace pawl::interleaving {

using Text = std::optional<std::string>;
using Rows = std::vector<std::vector<Text>>;

struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
    void operator()(PGconn* connection) const { PQfinish(connection); }
};
using Result = std::unique_ptr<PGresult, Clear>;

struct Statement {
    std::string name;
    std::string text;
    std::vector<Text> values;
    // Sent directly before it, and never waits: BEGIN, SAVEPOINT, a setting.
    std::string before;
    // It has a lock_timeout: while it waits, it can still move, by giving up.
    bool gives_up{false};
    // Undoes it if a constraint refuses it, and the session goes on; without, the error ends the
    // session.
    std::string undo{};
};

// The database's answer to a statement.
struct Told {
    std::string state;  // SQLSTATE of an error.
    std::string tag;    // Such as "COMMIT"; COMMIT of a failed transaction gives "ROLLBACK".
    int changed{};
    Rows rows;
};

inline Told told_by(const PGresult* result) {
    Told told;
    if (const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE)) told.state = state;
    auto* unconst = const_cast<PGresult*>(result);  // libpq's older functions lack const.
    told.tag = PQcmdStatus(unconst);
    told.changed = std::atoi(PQcmdTuples(unconst));
    for (int row = 0; row < PQntuples(result); ++row) {
        auto& columns = told.rows.emplace_back();
        for (int i = 0; i < PQnfields(result); ++i)
            columns.push_back(
                PQgetisnull(result, row, i) != 0 ? Text{} : Text{PQgetvalue(result, row, i)}
            );
    }
    return told;
}

class Connection {
public:
    explicit Connection(const std::string& url) : pg_{PQconnectdb(url.c_str())} {
        if (PQstatus(pg_.get()) != CONNECTION_OK)
            throw std::runtime_error{PQerrorMessage(pg_.get())};
        // A short deadlock timeout saves time.
        now("SET deadlock_timeout = '10ms'; SET TimeZone = 'UTC'; SET synchronous_commit = off;"
            "SET client_min_messages = warning");
    }
    Told now(const std::string& text) {
        const Result result{PQexec(pg_.get(), text.c_str())};
        if (const auto status = PQresultStatus(result.get());
            status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
            throw std::runtime_error{text + ": " + PQerrorMessage(pg_.get())};
        return told_by(result.get());
    }
    PGconn* pg() const { return pg_.get(); }

private:
    std::unique_ptr<PGconn, Clear> pg_;
};

class Session;
// The session's next statement, given its earlier answers; nullopt: the step is skipped.
using Step = std::function<std::optional<Statement>(const Session&)>;

// One side: a list of steps, which an error ends.
class Session {
public:
    Session(const std::string& url, std::string name) : connection_{url}, name_{std::move(name)} {}

    // `shares`: its transaction is one of several works, which also breaks up behind a lock.
    void start(std::vector<Step> steps, bool shares = false) {
        steps_ = std::move(steps);
        shares_ = shares;
        at_ = begun_at_ = 0;
        lost_claim_ = false;
        told_.clear();
        state_.clear();
        find_next();
    }
    const std::string& name() const { return name_; }
    int pid() const { return PQbackendPID(connection_.pg()); }
    bool is_over() const { return !next_; }
    bool is_waiting() const { return waiting_; }
    // Giving up is a move only right after the wait began. Later it would be the same move: the
    // database rolls back this transaction, which the other's statements have not seen.
    bool can_move() const { return next_ && (!waiting_ || (next_->gives_up && !passed_)); }
    void pass() { passed_ = waiting_; }
    const std::string& next() const { return next_->name; }

    void send() {
        if (!next_->before.empty()) connection_.now(next_->before);
        if (next_->before.starts_with("BEGIN")) {
            begun_at_ = at_ - 1;
            names_.clear();
        }
        std::vector<const char*> values;
        for (const auto& value : next_->values) values.push_back(value ? value->c_str() : nullptr);
        const auto count = static_cast<int>(values.size());
        const auto* text = next_->text.c_str();
        auto* pg = connection_.pg();
        if (PQsendQueryParams(pg, text, count, nullptr, values.data(), nullptr, nullptr, 0) == 0)
            throw std::runtime_error{PQerrorMessage(pg)};
        waiting_ = true;
        passed_ = false;
    }
    // False: no answer within a millisecond, or no question.
    bool hears() {
        if (!waiting_) return false;
        auto* pg = connection_.pg();
        if (PQisBusy(pg) != 0) {
            pollfd socket{PQsocket(pg), POLLIN, 0};
            poll(&socket, 1, 1);
            if (PQconsumeInput(pg) == 0) throw std::runtime_error{PQerrorMessage(pg)};
            if (PQisBusy(pg) != 0) return false;
        }
        const Result result{PQgetResult(pg)};
        while (const Result end{PQgetResult(pg)}) {
        }
        waiting_ = false;
        take(told_by(result.get()));
        return true;
    }

    // The error that ended it; empty: none.
    const std::string& state() const { return state_; }
    bool may_start_again() const {
        return state_ == "40001" || state_ == "40P01" || (shares_ && state_ == "55P03") ||
               (lost_claim_ && state_ == "22012" && names_.back() == "claim_key_under_id");
    }
    // Its claim under a preallocated id met another one: it claims again without.
    bool lost_claim() const { return lost_claim_; }
    bool shares() const { return shares_; }
    // From the BEGIN of the failed transaction; then each work runs alone.
    void start_again() {
        shares_ = false;
        for (const auto& name : names_) told_.erase(name);
        at_ = begun_at_;
        state_.clear();
        find_next();
    }
    const Told* told(const std::string& name) const {
        const auto found = told_.find(name);
        return found == told_.end() ? nullptr : &found->second;
    }
    Text first_value(const std::string& name) const {
        const auto* found = told(name);
        return found == nullptr || found->rows.empty() ? Text{} : found->rows[0][0];
    }
    int changed(const std::string& name) const {
        const auto* found = told(name);
        return found == nullptr ? 0 : found->changed;
    }
    bool committed(const std::string& commit) const {
        const auto* found = told(commit);
        return found != nullptr && found->state.empty() && found->tag == "COMMIT";
    }

private:
    void take(Told told) {
        const auto name = next_->name;
        if (told.state.starts_with("23") && !next_->undo.empty()) {
            connection_.now(next_->undo);
        } else if (!told.state.empty()) {
            state_ = told.state;
            lost_claim_ = lost_claim_ || (state_ == "22012" && name == "claim_key_under_id");
            at_ = steps_.size();
            // The database has already released its locks, so the time of this does not matter.
            if (PQtransactionStatus(connection_.pg()) == PQTRANS_INERROR)
                connection_.now("ROLLBACK");
        }
        told_[name] = std::move(told);
        names_.push_back(name);
        find_next();
    }
    void find_next() {
        next_.reset();
        while (!next_ && at_ < steps_.size()) next_ = steps_[at_++](*this);
    }

    Connection connection_;
    std::string name_;
    std::vector<Step> steps_;
    std::size_t at_{0};        // After the step that `next_` came from.
    std::size_t begun_at_{0};  // The step that began the transaction.
    std::optional<Statement> next_;
    bool waiting_{false};  // `next_` was sent, and has no answer yet.
    bool passed_{false};   // The other session has moved since.
    std::map<std::string, Told> told_;
    std::vector<std::string> names_;  // Statements of the last transaction that have answers.
    std::string state_;
    bool shares_{false};
    bool lost_claim_{false};
};

class Interleavings {
public:
    explicit Interleavings(const std::string& url)
        : first{url, "first"}, second{url, "second"}, monitor{url} {}

    // Which session moved, and whether the other could have moved instead.
    struct Turn {
        bool second{};
        bool other_untried{};
    };
    using Turns = std::vector<Turn>;

    // Runs one order from the start: first these turns, then the first session whenever it can
    // move; adds those turns. `start` prepares the database and the sessions.
    void run(Turns& turns, const std::function<void()>& start) {
        order_.clear();
        start();
        for (std::size_t n = 0; !first.is_over() || !second.is_over(); ++n) turn(turns, n);
    }
    // Goes to the last turn at which the second could have moved instead; false: this was the last
    // order.
    static bool step_on(Turns& turns) {
        while (!turns.empty() && !turns.back().other_untried) turns.pop_back();
        if (turns.empty()) return false;
        turns.back() = {true, false};
        return true;
    }
    // A session that met the other runs its transaction again, alone.
    void run_again() {
        for (auto* session : {&first, &second}) {
            // Behind a lock alone, and then without an id: no more often than that.
            for (int n = 0; session->may_start_again() && n < 2; ++n) {
                session->start_again();
                order_ += " |";
                while (!session->is_over()) move(*session);
            }
        }
    }
    int waits() const { return waits_; }
    const std::string& order() const { return order_; }

    Session first;
    Session second;
    Connection monitor;

private:
    static constexpr int patience = 10'000;  // Looks of a millisecond, then the test is stuck.

    void turn(Turns& turns, std::size_t n) {
        if (n >= turns.size())
            turns.push_back({!first.can_move(), first.can_move() && second.can_move()});
        if (!first.can_move() && !second.can_move()) return await_deadlock();
        auto& wanted = turns[n].second ? second : first;
        move(wanted.can_move() ? wanted : other_of(wanted));
    }
    void move(Session& session) {
        order_ += " " + session.name() + ":" + session.next();
        other_of(session).pass();
        if (session.is_waiting()) {
            await(session, false);  // Until it gives up.
        } else {
            session.send();
            await(session, true);
            if (session.is_waiting()) {
                order_ += "...";
                ++waits_;
            }
        }
        await(other_of(session), true);
    }
    // Until it has its answer, or, if that is enough, waits for the other.
    void await(Session& session, bool or_waits) {
        for (int n = 0; session.is_waiting() && !session.hears(); ++n) {
            if (or_waits && waits_for_the_other(session)) return;
            if (n > patience) throw std::runtime_error{"no answer:" + order_};
        }
    }
    // Each waits for the other, or did: the database ends one of them.
    void await_deadlock() {
        for (int n = 0; !first.hears() && !second.hears(); ++n)
            if (n > patience) throw std::runtime_error{"both wait:" + order_};
        await(first, true);
        await(second, true);
    }
    bool waits_for_the_other(const Session& session) {
        const auto told = monitor.now(
            "SELECT " + std::to_string(other_of(session).pid()) + " = ANY (pg_blocking_pids(" +
            std::to_string(session.pid()) + "))"
        );
        return told.rows[0][0] == "t";
    }
    Session& other_of(const Session& session) { return &session == &first ? second : first; }

    int waits_{0};
    std::string order_;
};

}  // namespace pawl::interleaving
