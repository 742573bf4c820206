#pragma once

#include "tests/passing_session.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace pawl::simulation {

// Planted faults of the statements: a part of the text is replaced. They are chosen like all others
// (planted.hpp); the product has no trace of them.
struct SqlMutant {
    std::string_view name;
    std::string_view statement;
    std::string_view part;  // The part to replace; empty: the whole text.
    std::string_view becomes;
};
const std::vector<SqlMutant>& sql_mutants();

// Whether the chosen mutant is one of them.
bool sql_is_mutated();

class MutatedSession final : public testing::PassingSession {
public:
    using PassingSession::PassingSession;
    std::int64_t run(
        const Sql& statement,
        std::span<const store::Value> parameters,
        detail::FunctionRef<void(const store::Row&)> each
    ) override;
    void send(const Sql& statement, std::span<const store::Value> parameters) override;
    void fence(const Sql& statement, std::span<const store::Value> parameters) override;
};

}  // namespace pawl::simulation
