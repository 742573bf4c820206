#pragma once

#include "src/base/clock.hpp"
#include "src/store/sqlite/connection.hpp"
#include "src/store/store.hpp"

#include <optional>

namespace pawl::sqlite {

// A Work's view of a connection.
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

    // A statement failed, and nothing went back to a savepoint before it: what was written must not
    // be kept.
    bool failed() const { return failed_; }
    // Throws that error if it is the environment's or a lost fence, and not the phase's fault:
    // whatever the phase's code has made of it.
    void throw_if_not_the_phases() const;

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
    bool failed_{false};  // After a failed statement only the way out is left.
    std::optional<StoreError> why_;
};

}  // namespace pawl::sqlite
