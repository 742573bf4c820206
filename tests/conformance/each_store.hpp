#pragma once

#include "src/store/memory/memory_store.hpp"
#include "src/store/sqlite/sqlite_store.hpp"
#include "tests/conformance/recording_store.hpp"
#include "tests/conformance/store_world.hpp"

namespace pawl::conformance {

enum class Stores { sqlite_file, sqlite_in_memory, memory };

inline std::string name_of(Stores stores) {
    switch (stores) {
        case Stores::sqlite_file:
            return "sqlite_file";
        case Stores::sqlite_in_memory:
            return "sqlite_in_memory";
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
        sqlite::SqliteOptions options{
            .path = GetParam() == Stores::sqlite_file ? folder.file("test.db") : ":memory:",
            .waiting_max = waiting_max};
        return std::make_unique<RecordingStore>(
            std::make_unique<sqlite::SqliteStore>(std::move(options), clock), name
        );
    }
    std::int64_t note_count() { return read_rows<std::int64_t>(*store, notes::count).at(0); }

    Folder folder;
    HandClock clock;
    std::unique_ptr<store::Store> store = open();
};

}  // namespace pawl::conformance

#define PAWL_ON_EACH_STORE(Suite)                                                         \
    INSTANTIATE_TEST_SUITE_P(                                                             \
        Stores,                                                                           \
        Suite,                                                                            \
        ::testing::Values(Stores::sqlite_file, Stores::sqlite_in_memory, Stores::memory), \
        [](const auto& of) { return name_of(of.param); }                                  \
    )
