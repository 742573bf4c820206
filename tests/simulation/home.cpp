#include "tests/simulation/home.hpp"

#include "src/store/blocking.hpp"
#include "src/store/migrate.hpp"
#include "store/migrations.hpp"

#include <string_view>
#include <utility>

namespace pawl::simulation {

namespace {

constexpr std::string_view ids = "sqlite_sequence";

}  // namespace

void Home::empty() {
    clock = {};
    run_all(emptied_);
}

void Home::run_all(const std::vector<Sql>& statements) {
    store::write_now(database, [&](store::Session& session) {
        for (const auto& each : statements) session.run(each, {}, [](const detail::Row&) {});
    });
}

void Home::keep(std::vector<Sql>& in, std::string text) {
    const auto& kept = texts_.emplace_back(std::move(text));
    in.push_back(Sql{kept, kept, {}});
}

void Home::run(const std::string& text) {
    store::write_now(database, [&](store::Session& session) {
        session.run(Sql{"simulation", text, {}}, {}, [](const detail::Row&) {});
    });
}

engine::Installation Home::made() {
    store::apply_migrations(database, "pawl", sql::migrations::all);
    // Without constraints: only Pawl prevents duplicates.
    run("CREATE TABLE orders (key_id INTEGER NOT NULL, who TEXT NOT NULL)");
    run("CREATE TABLE payments (who TEXT NOT NULL, charge TEXT NOT NULL)");
    run("CREATE TABLE parcels (who TEXT NOT NULL)");
    run("CREATE TABLE labels (who TEXT NOT NULL)");
    run("CREATE TABLE pages (epoch INTEGER NOT NULL, holder TEXT NOT NULL)");
    auto installation = engine::open_installation(database, clock, random, "");
    static const Sql tables{
        "simulation_tables",
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE "
        "'pawl_installation%' "
        "AND "
        "name NOT LIKE '%migrations' AND (name NOT LIKE 'sqlite%' OR name = 'sqlite_sequence')",
        {}};
    std::vector<std::string> names;
    store::read_now(database, [&](store::Session& session) {
        session.run(tables, {}, [&](const detail::Row& row) {
            if (row.text(0) != ids) names.emplace_back(row.text(0));
        });
    });
    names.emplace_back(ids);  // The last: SQLite counts what is inserted into the others.
    for (const auto& name : names) {
        const auto copy = "copy_of_" + name;
        run("CREATE TABLE " + copy + " AS SELECT * FROM " + name + " WHERE 0");
        keep(emptied_, "DELETE FROM " + name);
        keep(backing_up_, "DELETE FROM " + copy);
        keep(backing_up_, "INSERT INTO " + copy + " SELECT * FROM " + name);
        keep(restoring_, "DELETE FROM " + name);
        keep(restoring_, "INSERT INTO " + name + " SELECT * FROM " + copy);
    }
    // So that process_store.cpp can skip the first id, too.
    keep(emptied_, "INSERT INTO sqlite_sequence (name, seq) VALUES ('pawl_key_registry', 0)");
    return installation;
}

Home& home() {
    thread_local Home one;
    return one;
}

}  // namespace pawl::simulation
