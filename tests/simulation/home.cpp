#include "tests/simulation/home.hpp"

#include "src/store/blocking.hpp"
#include "src/store/migrate.hpp"
#include "store/migrations.hpp"

namespace pawl::simulation {

void Home::empty() {
    clock = {};
    store::write_now(database, [&](store::Session& session) {
        for (const auto& each : emptied_) session.run(each, {}, [](const detail::Row&) {});
        // So that process_store.cpp can skip the first id, too.
        static const Sql begin{
            "simulation_ids",
            "INSERT INTO sqlite_sequence (name, seq) VALUES ('pawl_key_registry', 0)",
            {}};
        session.run(begin, {}, [](const detail::Row&) {});
    });
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
    store::read_now(database, [&](store::Session& session) {
        session.run(tables, {}, [&](const detail::Row& row) {
            texts_.push_back("DELETE FROM " + std::string{row.text(0)});
        });
    });
    for (const auto& text : texts_) emptied_.push_back(Sql{text, text, {}});
    return installation;
}

Home& home() {
    thread_local Home one;
    return one;
}

}  // namespace pawl::simulation
