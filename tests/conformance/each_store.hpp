#pragma once

#include "src/base/random.hpp"
#include "src/store/memory/memory_store.hpp"
#include "src/store/postgres/postgres_store.hpp"
#include "src/store/sqlite/sqlite_store.hpp"
#include "tests/conformance/recording_store.hpp"
#include "tests/conformance/store_world.hpp"
#include "tests/postgres/cluster.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>

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

// A store of a kind and its surroundings; may be opened any number of times.
class StoreHome {
public:
    StoreHome(Stores stores, base::Clock& clock) : stores_{stores}, clock_{clock} {}

    std::unique_ptr<store::Store> open(std::size_t waiting_max = 20'000) {
        auto name = name_of(stores_);
        if (stores_ == Stores::memory)
            return std::make_unique<RecordingStore>(
                std::make_unique<memory::MemoryStore>(
                    clock_, memory::MemoryOptions{.waiting_max = waiting_max}
                ),
                name
            );
        if (is_postgres(stores_)) return open_postgres(waiting_max);
        sqlite::SqliteOptions options{
            .path = stores_ == Stores::sqlite_file ? folder.file("test.db") : ":memory:",
            .waiting_max = waiting_max};
        return std::make_unique<RecordingStore>(
            std::make_unique<sqlite::SqliteStore>(std::move(options), clock_), name
        );
    }
    // With Pawl's tables and `notes`. PostgreSQL copies a database in a fifth of the time in which
    // it runs the migrations.
    std::unique_ptr<store::Store> open_filled() {
        auto& original = original_of(stores_);
        if (original && !database) {
            database.emplace(*original);
            return open();
        }
        auto store = open();
        store::apply_migrations(*store, "pawl", sql::migrations::all);
        write_one(*store, notes::create);
        if (!database) return store;
        store.reset();
        original = std::make_unique<testing::PostgresDatabase>(*database);
        return open();
    }

    Folder folder;
    std::optional<testing::PostgresDatabase> database;

private:
    static std::unique_ptr<testing::PostgresDatabase>& original_of(Stores stores) {
        (void)testing::cluster_url();  // Stopped after `made` is dropped.
        static std::map<Stores, std::unique_ptr<testing::PostgresDatabase>> made;
        return made[stores];
    }
    // One connection, so that works run in order.
    std::unique_ptr<store::Store> open_postgres(std::size_t waiting_max) {
        if (!database) database.emplace();
        return std::make_unique<RecordingStore>(
            std::make_unique<postgres::PostgresStore>(
                postgres::PostgresOptions{
                    .url = database->url(),
                    .connections = 1,
                    .prepared = stores_ == Stores::postgres,
                    .waiting_max = waiting_max,
                    .database_clock = false},
                clock_,
                base::system_random()
            ),
            name_of(stores_)
        );
    }

    Stores stores_;
    base::Clock& clock_;
};

inline constexpr Stores all_stores[] = {
    Stores::sqlite_file,
    Stores::sqlite_in_memory,
    Stores::memory,
    Stores::postgres,
    Stores::postgres_unprepared};

// Runs each test on each store, with Pawl's tables and `notes`.
class OnEachStore : public ::testing::TestWithParam<Stores> {
protected:
    std::unique_ptr<store::Store> open(std::size_t waiting_max = 20'000) {
        return home.open(waiting_max);
    }
    std::int64_t note_count() { return read_rows<std::int64_t>(*store, notes::count).at(0); }

    HandClock clock;
    StoreHome home{GetParam(), clock};
    Folder& folder = home.folder;
    std::optional<testing::PostgresDatabase>& database = home.database;
    std::unique_ptr<store::Store> store = home.open_filled();
};

}  // namespace pawl::conformance

#define PAWL_ON_EACH_STORE(Suite)                             \
    INSTANTIATE_TEST_SUITE_P(                                 \
        Stores,                                               \
        Suite,                                                \
        ::testing::ValuesIn(::pawl::conformance::all_stores), \
        [](const auto& of) { return name_of(of.param); }      \
    )
