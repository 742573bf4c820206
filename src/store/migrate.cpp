#include "src/store/migrate.hpp"

#include "src/core/time_text.hpp"
#include "store/statements.hpp"

#include <array>
#include <set>

namespace pawl::store {

std::vector<std::string> apply_migrations(
    Store& store, std::string_view owner, std::span<const Sql* const> migrations
) {
    auto none = [](const Row&) {};
    return write_now(store, [&](Session& session) {
        session.run(sql::create_migrations, {}, none);
        std::set<std::string> known;
        const std::array<Value, 1> of_owner{owner};
        session.run(sql::find_migrations, of_owner, [&](const Row& row) {
            known.emplace(row.text(0));
        });
        std::vector<std::string> applied;
        for (const Sql* migration : migrations) {
            if (known.contains(std::string{migration->name})) continue;
            session.run_script(*migration);
            const auto now = core::time_text(session.now());
            const std::array<Value, 3> record{owner, migration->name, std::string_view{now}};
            session.run(sql::insert_migration, record, none);
            applied.emplace_back(migration->name);
        }
        return applied;
    });
}

}  // namespace pawl::store
