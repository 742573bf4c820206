#pragma once

#include "src/base/clock.hpp"
#include "src/store/postgres/connection.hpp"
#include "src/store/store.hpp"

#include <vector>

namespace pawl::postgres {

// The Session of a work on a connection, between its BEGIN and its COMMIT.
class PostgresSession final : public store::GuardedSession {
public:
    enum class In { own_transaction, shared_one };
    PostgresSession(
        Connection& connection,
        const PostgresOptions& options,
        base::Clock& clock,
        In in = In::own_transaction
    )
        : connection_{connection}, options_{options}, clock_{clock}, in_{in} {}

    std::int64_t run(
        const Sql& statement,
        std::span<const detail::Value> parameters,
        detail::FunctionRef<void(const detail::Row&)> each
    ) override;
    void send(const Sql& statement, std::span<const detail::Value> parameters) override;
    void fence(const Sql& statement, std::span<const detail::Value> parameters) override;
    void set_lock_timeout(std::chrono::milliseconds timeout) override;
    void lock_name(std::string_view name, std::int64_t number, std::chrono::milliseconds timeout)
        override;
    bool try_lock_name(std::int64_t number) override;
    void run_script(const Sql& script) override;
    void savepoint() override;
    void roll_back_to() override;
    void release() override;
    TimePoint now() override;

    // Whether one of its statements must not run in a shared transaction.
    bool needs_own_transaction() const { return needs_own_; }

private:
    bool deadline_passed() const override { return connection_.deadline_passed(); }
    void queue(
        const Sql& statement, std::span<const detail::Value> parameters, Connection::Use use
    );
    static StoreError lock_not_had(std::string_view name, const StoreError& why, bool by_deadline);
    Result flush();

    Connection& connection_;
    const PostgresOptions& options_;
    base::Clock& clock_;
    In in_;
    std::vector<Connection::Mark> savepoints_;  // The queue's position at each open savepoint.
    bool has_sent_{false};  // Statements without awaited answers were sent before the savepoints.
    bool needs_own_{false};
};

}  // namespace pawl::postgres
