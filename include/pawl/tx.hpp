#pragma once

#include <pawl/detail/json.hpp>
#include <pawl/detail/rows.hpp>
#include <pawl/detail/session.hpp>
#include <pawl/error.hpp>
#include <pawl/isolation.hpp>
#include <pawl/job.hpp>
#include <pawl/statement.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

namespace detail {
struct TxFactory;
struct TxContext;
}  // namespace detail

// An open transaction, made by the engine for one atomic phase, on a store's thread. Can't be
// copied, moved, or kept. After a failed statement it refuses everything but a rollback, unless the
// statement was in attempt().
class Tx {
public:
    Tx(const Tx&) = delete;
    Tx& operator=(const Tx&) = delete;

    // Workers see the job once this transaction has committed. Throws std::invalid_argument for
    // options beyond their limits, and StoreError.
    template <class Args>
    Staged stage(const Args& args, const StageOptions& options = {}) {
        static_assert(
            JobArgs<Args>,
            "pawl: a job is a plain struct with a `static constexpr std::string_view kind` of 1 to "
            "100 characters, and perhaps `static constexpr pawl::JobSettings settings{...}` within "
            "the limits in pawl/job.hpp, and `std::string partition() const`"
        );
        if constexpr (JobArgs<Args>) {
            std::string partition;
            if constexpr (detail::HasPartition<Args>) partition = args.partition();
            constexpr auto settings = detail::kind_of_job<Args>();
            return stage_text(settings, partition, detail::encode(args), options);
        }
    }

    // Runs f in a savepoint. If a database constraint refuses a statement in it, f's writes are
    // rolled back, the transaction goes on, and the error is returned. Any other error is thrown.
    template <class F>
    std::optional<StoreError> attempt(F f) {
        session().savepoint();
        const auto referenced = references();
        try {
            f();
            session().release();
        } catch (const StoreError& error) {
            session().roll_back_to();
            keep_references(referenced);
            if (error.kind() != StoreError::Kind::constraint) throw;
            return error;
        } catch (...) {
            session().roll_back_to();
            keep_references(referenced);
            throw;
        }
        return std::nullopt;
    }

    // Names an id by which people will search for this request (`keys search`): one of our own, as
    // in reference("ride", 17), or a provider's, as in reference("charge", "ch_1"). Stored with
    // the transaction, and kept after the key has expired, so no personal data should be in it.
    // A reference that is repeated is found once. Throws std::invalid_argument for a name that is
    // not 1 to 40 lower-case letters, digits, - and _, or is "request", which is the request's own
    // id; for an id that is not 1 to 200 bytes of UTF-8 without control characters; for more than
    // 20 in one transaction. A transaction that belongs to no key, as a job's, has nothing to find:
    // there it does nothing.
    void reference(std::string_view name, std::string_view id);
    template <std::integral N>
    void reference(std::string_view name, N id) {
        reference(name, std::to_string(id));
    }

    // The database's clock.
    TimePoint now() { return session().now(); }
    // What it sees of other transactions' commits. On SQLite they are serial.
    Isolation isolation() const;
    // For query() and execute() below.
    detail::Session& session();

private:
    friend struct detail::TxFactory;
    explicit Tx(detail::TxContext& context);
    ~Tx();
    std::size_t references() const;
    void keep_references(std::size_t first) noexcept;
    Staged stage_text(
        const detail::KindOfJob& settings,
        const std::string& partition,
        const std::string& args,
        const StageOptions& options
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
    friend struct detail::TxFactory;
    explicit Snapshot(detail::Session& session) : session_{session} {}
    ~Snapshot() = default;

    detail::Session& session_;
};

// All rows, each as an R: an aggregate by position, or one column. A parameter or column is one of
//
//   bool, a whole number      BIGINT, BOOLEAN
//   Decimal<n>, a duration    BIGINT: the number of units
//   double, float             DOUBLE PRECISION
//   std::string               TEXT; on PostgreSQL also NUMERIC, with all its digits
//   an enumeration            TEXT: the enumerator's name
//   TimePoint                 TEXT; on PostgreSQL also TIMESTAMP WITH TIME ZONE
//   std::vector<std::byte>    BLOB; on PostgreSQL BYTEA
//   std::optional of these    the same, or NULL
//   a struct of one of these  the same, for example an id
template <class R, class In, int N, class... A>
std::vector<R> query(In& in, const Statement<N>& statement, const A&... arguments) {
    static_assert(
        sizeof...(A) == N, "pawl: the number of arguments is not the number of $n in the statement"
    );
    const auto read = [&](const detail::Row& row) {
        return detail::row_as<R>(row, statement.name);
    };
    return detail::read_rows(in.session(), statement, read, arguments...);
}

// The row; nullopt: none. Throws StoreError (statement) for several.
template <class R, class In, int N, class... A>
std::optional<R> query_maybe(In& in, const Statement<N>& statement, const A&... arguments) {
    auto rows = query<R>(in, statement, arguments...);
    if (rows.size() > 1) detail::throw_row_count(statement.name, rows.size());
    if (rows.empty()) return std::nullopt;
    return std::move(rows.front());
}

// The one row; StoreError (statement) for none or several.
template <class R, class In, int N, class... A>
R query_one(In& in, const Statement<N>& statement, const A&... arguments) {
    auto rows = query<R>(in, statement, arguments...);
    if (rows.size() != 1) detail::throw_row_count(statement.name, rows.size());
    return std::move(rows.front());
}

// Deliberately unusable for a Snapshot: it gives the compile error a readable message.
template <int N, class... A>
std::int64_t execute(Snapshot&, const Statement<N>&, const A&...) {
    static_assert(N < 0, "pawl: a query changes nothing: what writes is an operation");
    return 0;
}

// Returns the number of changed rows.
template <int N, class... A>
std::int64_t execute(Tx& tx, const Statement<N>& statement, const A&... arguments) {
    static_assert(
        sizeof...(A) == N, "pawl: the number of arguments is not the number of $n in the statement"
    );
    return detail::run_statement(
        tx.session(), statement, [](const detail::Row&) {}, arguments...
    );
}

// A write whose count is not needed. It may be sent with the next statement or the commit, and its
// error comes with that. Cheaper than execute() if the database is behind a network.
template <int N, class... A>
void send(Tx& tx, const Statement<N>& statement, const A&... arguments) {
    static_assert(
        sizeof...(A) == N, "pawl: the number of arguments is not the number of $n in the statement"
    );
    detail::send_statement(tx.session(), statement, arguments...);
}

}  // namespace pawl
