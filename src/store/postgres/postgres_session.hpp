#pragma once

#include "src/base/clock.hpp"
#include "src/store/postgres/connection.hpp"
#include "src/store/store.hpp"

#include <optional>
#include <vector>

namespace pawl::postgres {

// A Work's view of a connection, between its BEGIN and its COMMIT.
class PostgresSession final : public store::Session {
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
    void lock_patience(std::chrono::milliseconds patience) override;
    void lock_name(std::string_view name, std::int64_t number, std::chrono::milliseconds patience)
        override;
    bool try_lock_name(std::int64_t number) override;
    void run_script(const Sql& script) override;
    void savepoint() override;
    void roll_back_to() override;
    void release() override;
    TimePoint now() override;

    // A statement failed, and nothing went back to a savepoint before it: what was written must not
    // be kept.
    bool failed() const { return failed_; }
    // That error, if it is neither the phase's fault nor its business: whatever its code made of
    // it.
    void throw_if_not_the_phases() const;
    // Throws the serialization failure or deadlock that an attempt met, though it took its own
    // back: the phase that throws after it may succeed if it runs again.
    void throw_if_met_another() const;
    // A statement of it must not run in a transaction that others share.
    bool needs_own_transaction() const { return needs_own_; }

private:
    void queue(
        const Sql& statement, std::span<const detail::Value> parameters, Connection::Use use
    );
    void control(const char* text);
    static StoreError lock_not_had(std::string_view name, const StoreError& why, bool by_deadline);
    Result flush();
    void refuse_after_failure(std::string_view statement) const;

    Connection& connection_;
    const PostgresOptions& options_;
    base::Clock& clock_;
    In in_;
    std::vector<Connection::Mark> savepoints_;  // What was queued behind each that is open.
    bool failed_{false};
    std::optional<StoreError> why_;
    std::optional<StoreError> met_another_;
    bool has_sent_{false};  // What nobody has waited for, before the savepoints.
    bool needs_own_{false};
};

}  // namespace pawl::postgres
