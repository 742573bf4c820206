#pragma once

#include "src/store/store.hpp"

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

class MutatedSession final : public store::Session {
public:
    explicit MutatedSession(store::Session& inner) : inner_{inner} {}
    std::int64_t run(
        const Sql& statement,
        std::span<const store::Value> parameters,
        detail::FunctionRef<void(const store::Row&)> each
    ) override;
    void send(const Sql& statement, std::span<const store::Value> parameters) override;
    void fence(const Sql& statement, std::span<const store::Value> parameters) override;
    void lock_name(std::string_view name, std::int64_t number, std::chrono::milliseconds patience)
        override {
        inner_.lock_name(name, number, patience);
    }
    bool try_lock_name(std::int64_t number) override { return inner_.try_lock_name(number); }
    void run_script(const Sql& script) override { inner_.run_script(script); }
    void savepoint() override { inner_.savepoint(); }
    void roll_back_to() override { inner_.roll_back_to(); }
    void release() override { inner_.release(); }
    TimePoint now() override { return inner_.now(); }

private:
    store::Session& inner_;
};

}  // namespace pawl::simulation
