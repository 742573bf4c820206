#include "tests/simulation/sql_mutants.hpp"

#include "src/core/mutant.hpp"
#include "store/statements.hpp"

#include <map>
#include <stdexcept>

namespace pawl::simulation {

const std::vector<SqlMutant>& sql_mutants() {
    static const std::vector<SqlMutant> all{
    };
    return all;
}

namespace {

// The statements as the chosen mutant has them; texts stay where they are, as the connection keeps
// a statement prepared by the place of its text.
const Sql& mutated(const Sql& statement) {
    static std::map<std::string_view, std::string> texts;  // By the mutant's name.
    thread_local Sql one;
    for (const auto& mutant : sql_mutants()) {
        if (!core::is_mutant(mutant.name) || mutant.statement != statement.name) continue;
        auto [text, fresh] = texts.try_emplace(mutant.name, statement.sqlite);
        if (fresh) {
            const auto at = text->second.find(mutant.part);
            if (at == std::string::npos)
                throw std::logic_error{
                    std::string{mutant.name} + " has no part in " + std::string{statement.name}};
            text->second.replace(at, mutant.part.size(), mutant.becomes);
        }
        one = {statement.name, text->second, {}};
        return one;
    }
    return statement;
}

}  // namespace

bool sql_is_mutated() {
    for (const auto& mutant : sql_mutants())
        if (core::is_mutant(mutant.name)) return true;
    return false;
}

std::int64_t MutatedSession::run(
    const Sql& statement,
    std::span<const store::Value> parameters,
    detail::FunctionRef<void(const store::Row&)> each
) {
    return inner_.run(mutated(statement), parameters, each);
}

void MutatedSession::send(const Sql& statement, std::span<const store::Value> parameters) {
    inner_.send(mutated(statement), parameters);
}

void MutatedSession::fence(const Sql& statement, std::span<const store::Value> parameters) {
    inner_.fence(mutated(statement), parameters);
}

}  // namespace pawl::simulation
