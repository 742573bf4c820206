#include <pawl/database.hpp>

#include "src/store/migrate.hpp"
#include "src/store/store.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace pawl {

namespace {

constexpr Statement<0> make{"make", "CREATE TABLE notes (text TEXT) STRICT", {}};
constexpr Statement<1> insert{"insert", "INSERT INTO notes VALUES ($1)", {}};
constexpr Statement<0> count{"count", "SELECT count(*) FROM notes", {}};

std::int64_t notes_in(Database& database) {
    std::int64_t found = 0;
    database.write([&](Tx& tx) { found = query_one<std::int64_t>(tx, count); });
    return found;
}

}  // namespace

TEST(DatabaseTest, both_databases_in_memory_have_our_tables_and_accept_an_applications) {
    for (const auto* url : {"memory:", "sqlite::memory:"}) {
        SCOPED_TRACE(url);
        const auto database = Database::open(url);

        database->write([](Tx& tx) {
            execute(tx, make);
            execute(tx, insert, "a");
        });

        EXPECT_EQ(notes_in(*database), 1);
    }
}

TEST(DatabaseTest, a_write_that_throws_is_rolled_back) {
    const auto database = Database::open("memory:");
    database->write([](Tx& tx) { execute(tx, make); });

    EXPECT_THROW(
        database->write([](Tx& tx) {
            execute(tx, insert, "a");
            throw std::runtime_error{"after all"};
        }),
        std::runtime_error
    );

    EXPECT_EQ(notes_in(*database), 0);
}

TEST(DatabaseTest, an_unknown_url_is_refused_with_a_list_of_the_known_ones) {
    for (const auto* url : {"", "sqlite:", "mysql://host/db", "memory", "memory:x"}) {
        try {
            Database::open(url);
            FAIL() << url;
        } catch (const std::invalid_argument& error) {
            EXPECT_NE(std::string{error.what()}.find("sqlite:FILE"), std::string::npos) << url;
        }
    }
}

TEST(DatabaseTest, a_tool_neither_creates_a_database_nor_accepts_one_without_our_tables) {
    std::string folder = (std::filesystem::temp_directory_path() / "pawl-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    const auto url = "sqlite:" + folder + "/none.db";

    EXPECT_THROW(Database::open(url, Database::As::tool), std::invalid_argument);
    EXPECT_FALSE(std::filesystem::exists(folder + "/none.db"));
    Database::open(url);
    EXPECT_NO_THROW(Database::open(url, Database::As::tool));

    std::filesystem::remove_all(folder);
}

TEST(DatabaseTest, an_inspection_creates_no_file_and_writes_nothing) {
    static constexpr Sql later{"0001_later", "CREATE TABLE later (id INTEGER) STRICT", {}};
    static constexpr std::array<const Sql*, 1> scripts{&later};
    std::string folder = (std::filesystem::temp_directory_path() / "pawl-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    const auto url = "sqlite:" + folder + "/inspected.db";

    EXPECT_THROW(Database::open(url, Database::As::inspection), std::invalid_argument);
    EXPECT_FALSE(std::filesystem::exists(folder + "/inspected.db"));
    const auto owner = Database::open(url);
    const auto opened = Database::open(url, Database::As::inspection);
    opened->migrate("greeter", scripts);

    ASSERT_EQ(opened->migrations().size(), 2U);
    EXPECT_EQ(opened->migrations()[0].owner, "pawl");
    EXPECT_EQ(opened->migrations()[1].scripts.size(), 1U);
    const auto state = store::compare_migrations(opened->store(), "greeter", scripts);
    EXPECT_EQ(state.pending, std::vector<std::string>{"0001_later"});
    try {
        opened->write([](Tx&) {});
        ADD_FAILURE() << "it was written to";
    } catch (const StoreError& error) {
        EXPECT_EQ(error.kind(), StoreError::Kind::read_only);
    }

    std::filesystem::remove_all(folder);
}

}  // namespace pawl
