#include "src/store/sqlite/sqlite_store.hpp"
#include "tests/conformance/store_world.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

// The database as a file: who owns it, whose it is, what is wrong with it, what others can read in
// it.
namespace pawl::sqlite {

namespace {

using namespace conformance;
using Kind = StoreError::Kind;

class FileTest : public ::testing::Test {
protected:
    std::unique_ptr<SqliteStore> open(const std::string& at) {
        return std::make_unique<SqliteStore>(SqliteOptions{.path = at}, clock);
    }
    std::unique_ptr<SqliteStore> open_as_tool(const std::string& at) {
        return std::make_unique<SqliteStore>(SqliteOptions{.path = at, .owner = false}, clock);
    }
    // A database with some pages, closed.
    void make(const std::string& at) {
        const auto made = open(at);
        write_one(*made, notes::create);
        for (int i = 0; i < 50; ++i)
            write_one(*made, notes::insert, std::to_string(i) + std::string(1'000, 'x'));
    }
    static void run_raw(const std::string& at, const char* text) {
        sqlite3* raw = nullptr;
        ASSERT_EQ(sqlite3_open(at.c_str(), &raw), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(raw, text, nullptr, nullptr, nullptr), SQLITE_OK)
            << sqlite3_errmsg(raw);
        sqlite3_close(raw);
    }
    static std::string bytes_of(const std::string& at) {
        std::ifstream file{at, std::ios::binary};
        return {std::istreambuf_iterator<char>{file}, {}};
    }

    Folder folder;
    HandClock clock;
    std::string path = folder.file("test.db");
};

bool says(const StoreError& error, const std::string& text) {
    return std::string{error.what()}.find(text) != std::string::npos;
}

// A file system of its own, for as long as the test runs.
class Mounted {
public:
    Mounted(std::string at, const char* options) : at_{std::move(at)} {
        std::filesystem::create_directory(at_);
        mounted_ = ::mount("tmpfs", at_.c_str(), "tmpfs", 0, options) == 0;
        why_ = std::strerror(errno);
    }
    ~Mounted() {
        if (mounted_) ::umount2(at_.c_str(), MNT_DETACH);
    }
    Mounted(const Mounted&) = delete;
    Mounted& operator=(const Mounted&) = delete;
    explicit operator bool() const { return mounted_; }
    bool make_read_only() const {
        return ::mount("tmpfs", at_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0;
    }
    const std::string& why() const { return why_; }

private:
    std::string at_;
    std::string why_;
    bool mounted_{};
};

}  // namespace

TEST_F(FileTest, what_was_committed_is_there_when_it_is_opened_again) {
    make(path);

    EXPECT_EQ(read_rows<int>(*open(path), notes::count).at(0), 50);
}

TEST_F(FileTest, a_second_owner_is_refused_with_a_code_and_told_whose_it_is) {
    const auto first = open(path);

    const auto error = error_of([&] { open(path); });

    EXPECT_TRUE(says(error, "PAWL0002")) << error.what();
    EXPECT_TRUE(says(error, "process " + std::to_string(::getpid()))) << error.what();
    EXPECT_EQ(error.effect(), StoreError::Effect::none);
    write_one(*first, notes::create);
}

TEST_F(FileTest, another_name_of_the_file_is_no_way_around_its_owner) {
    const auto first = open(path);
    std::filesystem::create_symlink(path, folder.file("link.db"));
    std::filesystem::create_directory_symlink(folder.file("."), folder.file("folder"));

    for (const auto& name :
         {folder.file("link.db"), folder.file("./test.db"), folder.file("folder/test.db")})
        EXPECT_TRUE(says(error_of([&] { open(name); }), "PAWL0002")) << name;
}

TEST_F(FileTest, a_file_is_free_when_its_owner_has_closed_it) {
    open(path).reset();

    EXPECT_NO_THROW(open(path));
}

TEST_F(FileTest, a_tool_writes_beside_the_owner_and_both_see_it) {
    const auto owner = open(path);
    write_one(*owner, notes::create);
    const auto tool = open_as_tool(path);

    write_one(*tool, notes::insert, "of the tool");
    write_one(*owner, notes::insert, "of the owner");

    for (auto* store : {owner.get(), tool.get()})
        EXPECT_EQ(read_rows<int>(*store, notes::count).at(0), 2);
}

TEST_F(FileTest, a_lock_that_a_tool_holds_too_long_is_busy_and_nothing_is_written) {
    const auto owner =
        std::make_unique<SqliteStore>(SqliteOptions{.path = path, .busy_timeout = 20ms}, clock);
    write_one(*owner, notes::create);
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &raw), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(raw, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);

    const auto error = error_of([&] { write_one(*owner, notes::insert, "a"); });
    sqlite3_close(raw);

    EXPECT_EQ(error.kind(), Kind::busy);
    EXPECT_EQ(error.effect(), StoreError::Effect::rolled_back);
    EXPECT_TRUE(error.safe_to_repeat());
    write_one(*owner, notes::insert, "a");
    EXPECT_EQ(read_rows<int>(*owner, notes::count).at(0), 1);
}

TEST_F(FileTest, a_tool_makes_no_file) {
    EXPECT_EQ(error_of([&] { open_as_tool(path); }).kind(), Kind::unavailable);

    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(FileTest, a_database_of_another_application_is_refused_and_left_as_it_was) {
    run_raw(path, "PRAGMA application_id = 252006673; CREATE TABLE fossil (a);");
    const auto before = bytes_of(path);

    for (const auto& error :
         {error_of([&] { open(path); }), error_of([&] { open_as_tool(path); })}) {
        EXPECT_TRUE(says(error, "PAWL0004")) << error.what();
        EXPECT_TRUE(says(error, "252006673")) << error.what();
    }
    EXPECT_EQ(bytes_of(path), before);
}

TEST_F(FileTest, a_database_that_no_application_has_marked_is_taken_over_by_a_server_only) {
    run_raw(path, "CREATE TABLE customers (name TEXT); INSERT INTO customers VALUES ('jane');");
    const auto before = bytes_of(path);
    constexpr Sql names{"names", "SELECT name FROM customers", {}};

    EXPECT_EQ(read_rows<std::string>(*open_as_tool(path), names).at(0), "jane");
    EXPECT_EQ(bytes_of(path), before);
    EXPECT_EQ(read_rows<std::string>(*open(path), names).at(0), "jane");

    EXPECT_NE(bytes_of(path), before);
    EXPECT_NO_THROW(open(path));
}

TEST_F(FileTest, a_file_that_is_no_database_is_refused_with_its_name_and_a_code) {
    std::ofstream{path} << "Dear diary, today I was no database at all. "
                        << std::string(4'096, '.');
    const auto before = bytes_of(path);

    const auto error = error_of([&] { open(path); });

    EXPECT_TRUE(says(error, "PAWL0005")) << error.what();
    EXPECT_TRUE(says(error, "test.db")) << error.what();
    EXPECT_EQ(bytes_of(path), before);
}

TEST_F(FileTest, a_damaged_page_is_reported_with_its_code_by_whoever_meets_it) {
    make(path);
    {
        std::fstream file{path, std::ios::binary | std::ios::in | std::ios::out};
        const std::string garbage(4'096, '\xa5');
        for (int page = 3; page < 12; ++page) {
            file.seekp(page * 4'096);
            file.write(garbage.data(), static_cast<std::streamsize>(garbage.size()));
        }
    }
    const auto damaged = open(path);

    const auto error = error_of([&] { read_rows<std::string>(*damaged, notes::texts); });

    EXPECT_TRUE(says(error, "PAWL0005")) << error.what();
    EXPECT_EQ(error.kind(), Kind::unavailable);
    EXPECT_EQ(error.statement(), "note_texts");
}

TEST_F(FileTest, a_folder_that_is_not_there_is_named) {
    const auto error = error_of([&] { open(folder.file("nowhere/test.db")); });

    EXPECT_TRUE(says(error, "nowhere/test.db")) << error.what();
    EXPECT_EQ(error.kind(), Kind::unavailable);
}

TEST_F(FileTest, a_file_system_that_is_read_only_is_refused_at_the_start) {
    const Mounted mounted{folder.file("disk"), "size=4m"};
    if (!mounted) GTEST_SKIP() << "no tmpfs may be mounted here: " << mounted.why();
    make(folder.file("disk/test.db"));
    if (!mounted.make_read_only()) GTEST_SKIP() << "no tmpfs may be mounted again";

    // The lock file is met first; without it the database says so itself.
    const auto locked = error_of([&] { open(folder.file("disk/test.db")); });
    const auto tool = error_of([&] { open_as_tool(folder.file("disk/test.db")); });

    EXPECT_TRUE(says(locked, "Read-only") || says(locked, "read-only")) << locked.what();
    EXPECT_EQ(tool.kind(), Kind::read_only);
    EXPECT_TRUE(says(tool, "read-only")) << tool.what();
}

TEST_F(FileTest, a_full_disk_refuses_writes_loses_nothing_and_recovers_when_there_is_room) {
    const Mounted mounted{folder.file("disk"), "size=1m"};
    if (!mounted) GTEST_SKIP() << "no tmpfs may be mounted here: " << mounted.why();
    const auto store = open(folder.file("disk/test.db"));
    write_one(*store, notes::create);
    int kept = 0;
    std::optional<StoreError> full;

    for (int i = 0; i < 1'000 && !full; ++i) {
        try {
            write_one(*store, notes::insert, std::to_string(i) + std::string(20'000, 'x'));
            ++kept;
        } catch (const StoreError& error) {
            full = error;
        }
    }

    ASSERT_TRUE(full);
    EXPECT_EQ(full->kind(), Kind::full) << full->what();
    EXPECT_TRUE(full->passing());
    EXPECT_GT(kept, 0);
    EXPECT_EQ(read_rows<int>(*store, notes::count).at(0), kept) << "reads go on";
    ASSERT_EQ(::mount("tmpfs", folder.file("disk").c_str(), "tmpfs", MS_REMOUNT, "size=4m"), 0);
    write_one(*store, notes::insert, "there is room again");
    EXPECT_EQ(read_rows<int>(*store, notes::count).at(0), kept + 1);
}

TEST_F(FileTest, anybody_with_sqlite_reads_it_while_it_is_served_and_times_are_texts) {
    const auto store = open(path);
    store::apply_migrations(*store, "pawl", pawl::sql::migrations::all);

    std::string found;
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    const int code = sqlite3_exec(
        raw,
        "SELECT name || ' ' || applied_at FROM migrations ORDER BY name LIMIT 1",
        [](void* to, int, char** column, char**) {
            static_cast<std::string*>(to)->append(column[0]);
            return 0;
        },
        &found,
        nullptr
    );
    sqlite3_close(raw);

    EXPECT_EQ(code, SQLITE_OK);
    EXPECT_EQ(found, "migration_0001_initial 2027-01-15T08:00:00.000Z");
}

}  // namespace pawl::sqlite
