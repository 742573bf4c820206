#pragma once

#include "src/engine/random.hpp"
#include "src/store/memory/memory_store.hpp"
#include "src/store/postgres/postgres_store.hpp"
#include "src/store/sqlite/sqlite_store.hpp"
#include "tests/conformance/recording_store.hpp"
#include "tests/conformance/store_world.hpp"
#include "tests/postgres/cluster.hpp"

namespace pawl::conformance {

enum class Stores { sqlite_file, sqlite_in_memory, memory, postgres, postgres_unprepared };

inline bool is_postgres(Stores stores) {
    return stores == Stores::postgres || stores == Stores::postgres_unprepared;
}

inline std::string name_of(Stores stores) {
    switch (stores) {
        case Stores::sqlite_file:
            return "sqlite_file";
        case Stores::sqlite_in_memory:
            return "sqlite_in_memory";
        case Stores::postgres:
            return "postgres";
        case Stores::postgres_unprepared:
            return "postgres_unprepared";
        case Stores::memory:
            break;
    }
    return "memory";
}

// Each test once on each store, with Pawl's tables and `notes`.
class OnEachStore : public ::testing::TestWithParam<Stores> {
protected:
    OnEachStore() {
        store::apply_migrations(*store, "pawl", sql::migrations::all);
        write_one(*store, notes::create);
    }

    std::unique_ptr<store::Store> open(std::size_t waiting_max = 20'000) {
        auto name = name_of(GetParam());
        if (GetParam() == Stores::memory)
            return std::make_unique<RecordingStore>(
                std::make_unique<memory::MemoryStore>(
                    clock, memory::MemoryOptions{.waiting_max = waiting_max}
                ),
                name
            );
        if (is_postgres(GetParam())) return open_postgres(waiting_max);
        sqlite::SqliteOptions options{
            .path = GetParam() == Stores::sqlite_file ? folder.file("test.db") : ":memory:",
            .waiting_max = waiting_max};
        return std::make_unique<RecordingStore>(
            std::make_unique<sqlite::SqliteStore>(std::move(options), clock), name
        );
    }
    // One connection: the order of works is that of a line.
    std::unique_ptr<store::Store> open_postgres(std::size_t waiting_max) {
        if (!database) database.emplace();
        return std::make_unique<RecordingStore>(
            std::make_unique<postgres::PostgresStore>(
                postgres::PostgresOptions{
                    .url = database->url(),
                    .connections = 1,
                    .prepared = GetParam() == Stores::postgres,
                    .waiting_max = waiting_max,
                    .database_clock = false},
                clock,
                engine::system_random()
            ),
            name_of(GetParam())
        );
    }
    std::int64_t note_count() { return read_rows<std::int64_t>(*store, notes::count).at(0); }

    Folder folder;
    std::optional<testing::PostgresDatabase> database;
    HandClock clock;
    std::unique_ptr<store::Store> store = open();
};

}  // namespace pawl::conformance

#define PAWL_ON_EACH_STORE(Suite)                        \
    INSTANTIATE_TEST_SUITE_P(                            \
        Stores,                                          \
        Suite,                                           \
        ::testing::Values(                               \
            Stores::sqlite_file,                         \
            Stores::sqlite_in_memory,                    \
            Stores::memory,                              \
            Stores::postgres,                            \
            Stores::postgres_unprepared                  \
        ),                                               \
        [](const auto& of) { return name_of(of.param); } \
    )
