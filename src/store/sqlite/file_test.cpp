#include "src/store/sqlite/file_watch.hpp"
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

// The database as a file: its owner, its origin, its damage, and who can read it.
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

// A file system of its own, for the duration of the test.
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

TEST_F(FileTest, commits_are_there_when_the_file_is_opened_again) {
    make(path);

    EXPECT_EQ(read_rows<int>(*open(path), notes::count).at(0), 50);
}

TEST_F(FileTest, a_second_owner_is_refused_with_a_code_and_the_owners_pid) {
    const auto first = open(path);

    const auto error = error_of([&] { open(path); });

    EXPECT_TRUE(says(error, "PAWL0002")) << error.what();
    EXPECT_TRUE(says(error, "process " + std::to_string(::getpid()))) << error.what();
    EXPECT_EQ(error.effect(), StoreError::Effect::none);
    write_one(*first, notes::create);
}

TEST_F(FileTest, another_name_of_the_file_does_not_bypass_its_owner) {
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

// Issue 16, number 3: a server went on writing to a file that had been removed, renamed or
// replaced, and its answers were lost after the next start.
class LostFileTest : public FileTest {
protected:
    void SetUp() override {
        make(path);
        store = std::make_unique<SqliteStore>(
            SqliteOptions{.path = path},
            clock,
            [this](const base::Warning& warning) { warnings.push_back(warning); }
        );
        write_one(*store, notes::insert, "in time");
    }
    void expect_refused(const std::string& why) {
        clock.advance(FileWatch::read_every);
        const auto read = error_of([&] { read_rows<int>(*store, notes::count); });
        const auto first = error_of([&] { write_one(*store, notes::insert, "too late"); });
        const auto again = error_of([&] { write_one(*store, notes::insert, "too late"); });
        for (const auto& error : {read, first, again}) {
            EXPECT_EQ(error.kind(), Kind::unavailable);
            EXPECT_EQ(error.effect(), StoreError::Effect::none);
            EXPECT_TRUE(says(error, "PAWL0016")) << error.what();
            EXPECT_TRUE(says(error, why)) << error.what();
        }
        ASSERT_EQ(warnings.size(), 1U) << "said once";
        EXPECT_EQ(warnings[0].code, "PAWL0016");
    }
    std::string beside(const std::string& ending) const { return path + ending; }

    std::unique_ptr<SqliteStore> store;
    std::vector<base::Warning> warnings;
};

TEST_F(LostFileTest, a_removed_file_is_neither_written_nor_read) {
    std::filesystem::remove(path);

    expect_refused("test.db was removed or renamed");
}

TEST_F(LostFileTest, a_renamed_file_gets_no_writes_and_can_be_opened_after_a_restart) {
    std::filesystem::rename(path, folder.file("aside.db"));
    expect_refused("test.db was removed or renamed");

    store.reset();
    std::filesystem::rename(folder.file("aside.db"), path);

    EXPECT_EQ(read_rows<int>(*open(path), notes::count).at(0), 51);
}

TEST_F(LostFileTest, a_file_that_comes_back_is_still_refused_until_the_next_start) {
    std::filesystem::rename(path, folder.file("aside.db"));
    EXPECT_TRUE(says(error_of([&] { write_one(*store, notes::insert, "x"); }), "PAWL0016"));

    std::filesystem::rename(folder.file("aside.db"), path);

    EXPECT_TRUE(says(error_of([&] { write_one(*store, notes::insert, "x"); }), "PAWL0016"));
}

TEST_F(LostFileTest, a_file_that_was_replaced_is_left_alone_and_its_log_is_not_written_into_it) {
    run_raw(path, ("VACUUM INTO '" + folder.file("backup.db") + "'").c_str());
    write_one(*store, notes::insert, "after the backup");
    std::filesystem::rename(folder.file("backup.db"), path);
    const auto before = bytes_of(path);

    expect_refused("test.db was replaced by another file");
    store.reset();

    EXPECT_EQ(bytes_of(path), before);
    const auto error = error_of([&] { open(path); });
    EXPECT_TRUE(says(error, "PAWL0016")) << error.what();
    EXPECT_TRUE(says(error, "test.db-wal")) << error.what();
    EXPECT_EQ(bytes_of(path), before);
    std::filesystem::remove(beside("-wal"));
    std::filesystem::remove(beside("-shm"));
    EXPECT_EQ(read_rows<int>(*open(path), notes::count).at(0), 51);
}

TEST_F(LostFileTest, a_file_that_was_overwritten_in_place_is_detected) {
    run_raw(path, ("VACUUM INTO '" + folder.file("backup.db") + "'").c_str());
    write_one(*store, notes::insert, "after the backup");
    std::ofstream{path, std::ios::binary} << bytes_of(folder.file("backup.db"));
    const auto before = bytes_of(path);

    expect_refused("test.db was overwritten by another database");
    store.reset();

    EXPECT_EQ(bytes_of(path), before);
    EXPECT_TRUE(says(error_of([&] { open(path); }), "PAWL0016"));
    std::filesystem::remove(beside("-wal"));
    std::filesystem::remove(beside("-shm"));
    EXPECT_EQ(read_rows<int>(*open(path), notes::count).at(0), 51);
}

TEST_F(LostFileTest, a_removed_log_loses_no_commits) {
    std::filesystem::remove(beside("-wal"));

    expect_refused("test.db-wal was removed");
}

TEST_F(LostFileTest, a_removed_index_of_the_log_is_detected_too) {
    std::filesystem::remove(beside("-shm"));

    expect_refused("test.db-shm was removed");
}

TEST_F(LostFileTest, a_removed_lock_file_allows_no_second_owner) {
    std::filesystem::remove(beside(".lock"));

    const auto second = error_of([&] { open(path); });

    EXPECT_TRUE(says(second, "PAWL0002")) << second.what();
    expect_refused("test.db.lock was re");
}

TEST_F(LostFileTest, a_link_that_leads_elsewhere_is_detected) {
    const auto link = folder.file("link.db");
    make(folder.file("other.db"));
    store.reset();
    std::filesystem::create_symlink(path, link);
    store = std::make_unique<SqliteStore>(
        SqliteOptions{.path = link},
        clock,
        [this](const base::Warning& warning) { warnings.push_back(warning); }
    );
    std::filesystem::remove(link);
    std::filesystem::create_symlink(folder.file("other.db"), link);

    expect_refused("link.db was replaced by another file");
}

TEST_F(LostFileTest, a_commit_into_a_file_that_vanishes_meanwhile_is_in_doubt) {
    const auto error = error_of([&] {
        store::write_now(*store, [&](Session& session) {
            std::filesystem::rename(path, folder.file("aside.db"));
            session.run(
                notes::insert,
                std::array{store::Value{std::string_view{"lost"}}},
                [](const auto&) {}
            );
            return 0;
        });
    });

    EXPECT_EQ(error.effect(), StoreError::Effect::in_doubt);
    EXPECT_TRUE(says(error, "PAWL0016")) << error.what();
}

// What operators and backups do beside a server must not count as a loss.
TEST_F(LostFileTest, backups_checkpoints_and_a_vacuum_do_not_count_as_a_loss) {
    const auto copy = folder.file("copy.db");
    const std::vector<std::string> done{
        "VACUUM INTO '" + copy + "'",
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "VACUUM",
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "INSERT INTO notes (text) VALUES ('by hand')",
        "PRAGMA wal_checkpoint(PASSIVE)"};
    for (std::size_t i = 0; i < done.size(); ++i) {
        const auto& text = done[i];
        run_raw(path, text.c_str());
        clock.advance(FileWatch::read_every);
        EXPECT_NO_THROW(write_one(*store, notes::insert, std::to_string(i) + " later")) << text;
        EXPECT_NO_THROW(read_rows<int>(*store, notes::count)) << text;
    }
    EXPECT_TRUE(warnings.empty());
}

// SQLite silently removes such a log, with all that it had committed.
TEST_F(FileTest, a_log_beside_an_empty_file_is_left_to_the_operator) {
    std::ofstream{path + "-wal"} << "what a lost database has committed";

    const auto error = error_of([&] { open(path); });

    EXPECT_TRUE(says(error, "PAWL0016")) << error.what();
    EXPECT_EQ(bytes_of(path + "-wal"), "what a lost database has committed");
}

TEST_F(LostFileTest, a_log_that_was_left_by_a_kill_is_not_written_into_a_backup) {
    run_raw(path, ("VACUUM INTO '" + folder.file("backup.db") + "'").c_str());
    write_one(*store, notes::insert, "after the backup");
    std::filesystem::copy_file(beside("-wal"), folder.file("log"));
    std::filesystem::copy_file(beside(".lock"), folder.file("lock"));
    store.reset();
    std::ofstream{path, std::ios::binary} << bytes_of(folder.file("backup.db"));
    std::filesystem::copy_file(folder.file("log"), beside("-wal"));
    std::filesystem::rename(folder.file("lock"), beside(".lock"));

    EXPECT_TRUE(says(error_of([&] { open(path); }), "PAWL0016"));
}

TEST_F(LostFileTest, a_server_that_was_killed_finds_its_own_log_again) {
    const auto aside = folder.file("killed.db");
    for (const auto* ending : {"", "-wal", "-shm"})
        std::filesystem::copy_file(beside(ending), aside + ending);
    store.reset();

    EXPECT_EQ(read_rows<int>(*open(aside), notes::count).at(0), 51);
}

TEST_F(FileTest, a_tool_creates_no_file) {
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

TEST_F(FileTest, a_damaged_page_is_reported_with_its_code_by_every_reader) {
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

TEST_F(FileTest, a_missing_folder_is_named) {
    const auto error = error_of([&] { open(folder.file("nowhere/test.db")); });

    EXPECT_TRUE(says(error, "nowhere/test.db")) << error.what();
    EXPECT_EQ(error.kind(), Kind::unavailable);
}

TEST_F(FileTest, a_file_system_that_is_read_only_is_refused_at_the_start) {
    const Mounted mounted{folder.file("disk"), "size=4m"};
    if (!mounted) GTEST_SKIP() << "no tmpfs may be mounted here: " << mounted.why();
    make(folder.file("disk/test.db"));
    if (!mounted.make_read_only()) GTEST_SKIP() << "no tmpfs may be mounted again";

    // The lock file is checked first; without it the database itself reports it.
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
    EXPECT_TRUE(full->transient());
    EXPECT_GT(kept, 0);
    EXPECT_EQ(read_rows<int>(*store, notes::count).at(0), kept) << "reads go on";
    ASSERT_EQ(::mount("tmpfs", folder.file("disk").c_str(), "tmpfs", MS_REMOUNT, "size=4m"), 0);
    write_one(*store, notes::insert, "there is room again");
    EXPECT_EQ(read_rows<int>(*store, notes::count).at(0), kept + 1);
}

TEST_F(FileTest, other_programs_can_read_the_served_file_and_times_are_texts) {
    const auto store = open(path);
    store::apply_migrations(*store, "pawl", pawl::sql::migrations::all);

    std::string found;
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    const int code = sqlite3_exec(
        raw,
        "SELECT name || ' ' || applied_at FROM pawl_migrations ORDER BY name LIMIT 1",
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
