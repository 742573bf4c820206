#pragma once

#include <pawl/detail/json.hpp>
#include <pawl/detail/rows.hpp>
#include <pawl/detail/session.hpp>
#include <pawl/error.hpp>
#include <pawl/isolation.hpp>
#include <pawl/job.hpp>
#include <pawl/statement.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace pawl {

namespace detail {
struct Maker;
struct TxContext;
}  // namespace detail

// An open transaction. Made by the engine for one atomic phase, on a thread of the store; cannot be
// copied, moved, or kept. After a failed statement it refuses everything but the way out, unless
// the statement was in attempt().
class Tx {
public:
    Tx(const Tx&) = delete;
    Tx& operator=(const Tx&) = delete;

    // Workers see the job if and when this transaction commits.
    template <class Args>
    void stage(const Args& args) {
        static_assert(
            JobArgs<Args>,
            "pawl: a job is a plain struct with a `static constexpr std::string_view kind` of 1 to "
            "100 characters"
        );
        if constexpr (JobArgs<Args>) stage_in(std::chrono::milliseconds::zero(), args);
    }
    // As stage(), but no worker has the job before so long from now has passed, by the database's
    // clock; 0 to ten years, else std::invalid_argument.
    template <class Args>
    void stage_in(std::chrono::milliseconds due_in, const Args& args) {
        static_assert(
            JobArgs<Args>,
            "pawl: a job is a plain struct with a `static constexpr std::string_view kind` of 1 to "
            "100 characters"
        );
        if constexpr (JobArgs<Args>) stage_text(Args::kind, detail::encode(args), due_in);
    }

    // Runs f in a savepoint. If a constraint of the database refuses a statement in it, what f
    // wrote is undone, the transaction lives on, and the error comes back. Every other error is
    // thrown.
    template <class F>
    std::optional<StoreError> attempt(F f) {
        session().savepoint();
        try {
            f();
            session().release();
        } catch (const StoreError& error) {
            session().roll_back_to();
            if (error.kind() != StoreError::Kind::constraint) throw;
            return error;
        } catch (...) {
            session().roll_back_to();
            throw;
        }
        return std::nullopt;
    }

    // The database's clock.
    TimePoint now() { return session().now(); }
    // What it sees of others' commits; nothing of them on SQLite, whatever it is.
    Isolation isolation() const;
    // For query() and execute() below.
    detail::Session& session();

private:
    friend struct detail::Maker;
    explicit Tx(detail::TxContext& context);
    ~Tx();
    void stage_text(
        std::string_view kind, const std::string& args, std::chrono::milliseconds due_in
    );

    detail::TxContext& context_;
};

// A read snapshot, for answers that change nothing.
class Snapshot {
public:
    Snapshot(const Snapshot&) = delete;
    Snapshot& operator=(const Snapshot&) = delete;
    TimePoint now() { return session_.now(); }
    detail::Session& session() { return session_; }

private:
    friend struct detail::Maker;
    explicit Snapshot(detail::Session& session) : session_{session} {}
    ~Snapshot() = default;

    detail::Session& session_;
};

// All rows, each as an R: an aggregate by position, or one column as a number, text, enum or
// optional.
template <class R, class In, int N, class... A>
std::vector<R> query(In& in, const Statement<N>& statement, const A&... arguments) {
    static_assert(
        sizeof...(A) == N, "pawl: the number of arguments is not the number of $n in the statement"
    );
    std::vector<R> rows;
    detail::run_statement(
        in.session(),
        statement,
        [&](const detail::Row& row) { rows.push_back(detail::row_as<R>(row, statement.name)); },
        arguments...
    );
    return rows;
}

// The row, or nothing; StoreError (statement) if there are several.
template <class R, class In, int N, class... A>
std::optional<R> query_maybe(In& in, const Statement<N>& statement, const A&... arguments) {
    auto rows = query<R>(in, statement, arguments...);
    if (rows.size() > 1) detail::throw_row_count(statement.name, rows.size());
    if (rows.empty()) return std::nullopt;
    return std::move(rows.front());
}

// The one row; StoreError (statement) if there is none, or several.
template <class R, class In, int N, class... A>
R query_one(In& in, const Statement<N>& statement, const A&... arguments) {
    auto rows = query<R>(in, statement, arguments...);
    if (rows.size() != 1) detail::throw_row_count(statement.name, rows.size());
    return std::move(rows.front());
}

// A Snapshot has no execute(); this one is there for its sentence.
template <int N, class... A>
std::int64_t execute(Snapshot&, const Statement<N>&, const A&...) {
    static_assert(N < 0, "pawl: a query changes nothing: what writes is an operation");
    return 0;
}

// The number of rows that it changed.
template <int N, class... A>
std::int64_t execute(Tx& tx, const Statement<N>& statement, const A&... arguments) {
    static_assert(
        sizeof...(A) == N, "pawl: the number of arguments is not the number of $n in the statement"
    );
    return detail::run_statement(
        tx.session(), statement, [](const detail::Row&) {}, arguments...
    );
}

// A write whose count nobody wants. It may travel with the next statement, or with the commit, and
// so may its error: cheaper than execute() where the database is behind a network.
template <int N, class... A>
void send(Tx& tx, const Statement<N>& statement, const A&... arguments) {
    static_assert(
        sizeof...(A) == N, "pawl: the number of arguments is not the number of $n in the statement"
    );
    detail::send_statement(tx.session(), statement, arguments...);
}

}  // namespace pawl
