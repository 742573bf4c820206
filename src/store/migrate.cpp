#include "src/store/migrate.hpp"

#include <pawl/detail/rows.hpp>

#include "src/base/time_text.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace pawl::store {

namespace {

// Building an index over a large table takes long, and no request waits for this database yet.
constexpr std::chrono::hours deadline{1};

// The name in the script's `-- needs NAME`, as it is recorded; empty: no such line.
std::string needs_of(std::string_view script) {
    constexpr std::string_view mark = "-- needs ";
    while (!script.empty()) {
        const auto line = script.substr(0, script.find('\n'));
        if (line.starts_with(mark))
            return "migration_" +
                   std::string{
                       line.substr(mark.size(), line.find_last_not_of(" \r") + 1 - mark.size())};
        script.remove_prefix(std::min(line.size() + 1, script.size()));
    }
    return {};
}

bool has_record(Session& session) {
    bool found = false;
    session.run(sql::find_migrations_table, {}, [&](const Row&) { found = true; });
    return found;
}

// The migrations that the database has had: name to what each needs.
std::map<std::string, std::string> recorded(Session& session, std::string_view owner) {
    std::map<std::string, std::string> found;
    const auto add = [&](const Row& row) { found.emplace(row.text(0), row.text(1)); };
    detail::run_statement(session, sql::find_migrations, add, owner);
    return found;
}

MigrationState compare(
    std::string_view owner,
    const std::map<std::string, std::string>& had,
    std::span<const Sql* const> migrations
) {
    MigrationState state;
    std::set<std::string> known{""};
    for (const Sql* migration : migrations) {
        known.emplace(migration->name);
        if (!had.contains(std::string{migration->name}))
            state.pending.emplace_back(migration->name);
    }
    for (const auto& [name, needs] : had) {
        if (known.contains(name)) continue;
        state.unknown.push_back(name);
        if (known.contains(needs) || !state.refusal.empty()) continue;
        state.refusal = "PAWL0003: the database is newer than this binary: it has had " + name +
                        " of " + std::string{owner} + ", which only a binary that knows " + needs +
                        " can live with";
    }
    return state;
}

void check_not_too_new(const MigrationState& state) {
    if (state.refusal.empty()) return;
    throw StoreError{
        StoreError::Kind::unavailable, StoreError::Effect::none, "find_migrations", state.refusal};
}

}  // namespace

MigrationState compare_migrations(
    Store& store, std::string_view owner, std::span<const Sql* const> migrations
) {
    const auto had = read_now(store, [&](Session& session) {
        return has_record(session) ? recorded(session, owner)
                                   : std::map<std::string, std::string>{};
    });
    return compare(owner, had, migrations);
}

std::vector<std::string> apply_migrations(
    Store& store, std::string_view owner, std::span<const Sql* const> migrations
) {
    // Takes no lock, so that a suspended server that holds it delays the start of others only if
    // there is something to migrate.
    const auto before = compare_migrations(store, owner, migrations);
    check_not_too_new(before);
    if (before.pending.empty()) return {};
    auto run = [&](Session& session) {
        detail::execute_statement(session, sql::lock_migrations);
        // A serving role need not have the right to create tables.
        if (!has_record(session)) detail::execute_statement(session, sql::create_migrations);
        const auto had = recorded(session, owner);
        check_not_too_new(compare(owner, had, migrations));
        std::vector<std::string> applied;
        for (const Sql* migration : migrations) {
            if (had.contains(std::string{migration->name})) continue;
            session.run_script(*migration);
            const auto now = base::time_text(session.now());
            const auto needs = needs_of(store.text_of(*migration));
            detail::execute_statement(
                session, sql::insert_migration, owner, migration->name, now, needs
            );
            applied.emplace_back(migration->name);
        }
        return applied;
    };
    return write_now(store, run, deadline);
}

}  // namespace pawl::store
