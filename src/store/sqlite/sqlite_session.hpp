#pragma once

#include "src/base/clock.hpp"
#include "src/store/sqlite/connection.hpp"
#include "src/store/store.hpp"

#include <optional>

namespace pawl::sqlite {

// The Session of a work on a connection.
class SqliteSession final : public store::Session {
public:
    enum class Mode { write, read };
    SqliteSession(Connection& connection, base::Clock& clock, Mode mode);

    std::int64_t run(
        const Sql& statement,
        std::span<const detail::Value> parameters,
        detail::FunctionRef<void(const detail::Row&)> each
    ) override;
    void fence(const Sql& statement, std::span<const detail::Value> parameters) override;
    void run_script(const Sql& script) override;
    void savepoint() override;
    void roll_back_to() override;
    void release() override;
    TimePoint now() override;

    // A statement failed, and no savepoint rolled it back: COMMIT is not allowed.
    bool failed() const { return failed_; }
    // Throws that error again if it came from the environment or a lost fence, even if the phase
    // caught it.
    void throw_unless_phase_error() const;

private:
    std::int64_t run_checked(
        const Sql& statement,
        std::span<const detail::Value> parameters,
        detail::FunctionRef<void(const detail::Row&)> each
    );
    void refuse_after_failure(std::string_view statement) const;
    [[noreturn]] static void refuse(std::string_view statement, const char* why);

    Connection& connection_;
    base::Clock& clock_;
    Mode mode_;
    int depth_{0};
    bool failed_{false};  // After a failed statement only a rollback is allowed.
    std::optional<StoreError> why_;
};

}  // namespace pawl::sqlite
