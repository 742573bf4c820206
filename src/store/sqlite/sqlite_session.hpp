#pragma once

#include "src/base/clock.hpp"
#include "src/store/sqlite/connection.hpp"
#include "src/store/store.hpp"

namespace pawl::sqlite {

// The Session of a work on a connection.
class SqliteSession final : public store::GuardedSession {
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

private:
    bool deadline_passed() const override { return connection_.deadline_passed(); }
    std::int64_t run_checked(
        const Sql& statement,
        std::span<const detail::Value> parameters,
        detail::FunctionRef<void(const detail::Row&)> each
    );
    void refuse_a_write(std::string_view statement) const;

    Connection& connection_;
    base::Clock& clock_;
    Mode mode_;
    int depth_{0};
};

}  // namespace pawl::sqlite
