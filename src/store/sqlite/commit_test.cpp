#include "src/store/sqlite/sqlite_store.hpp"
#include "tests/conformance/store_world.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <mutex>

// A disk that fails at COMMIT, by a layer between SQLite and the system (sqlite.org/vfs.html).
namespace pawl::sqlite {

namespace {

using namespace conformance;
using Kind = StoreError::Kind;
using Effect = StoreError::Effect;

enum class Does { write, sync };

// What the layer does with write-ahead logs: counts, and fails on request. Other files pass.
struct Disk {
    std::mutex mutex;
    std::optional<Does> failing;
    int code{SQLITE_OK};
    int passes{};  // Syncs that succeed before the one that fails.
    int syncs{};

    void fail(Does what, int with, int after = 0) {
        const std::lock_guard guard{mutex};
        failing = what;
        code = with;
        passes = after;
    }
    int ask(Does what) {
        const std::lock_guard guard{mutex};
        if (what == Does::sync) ++syncs;
        if (failing != what || passes-- > 0) return SQLITE_OK;
        failing.reset();
        return code;
    }
};

Disk& disk() {
    static Disk the_disk;
    return the_disk;
}

struct File {
    sqlite3_file base;
    bool log;
    // The system's own file is stored after this one.
    sqlite3_file* real() { return static_cast<sqlite3_file*>(static_cast<void*>(this + 1)); }
};

File& file(sqlite3_file* of) {
    return *static_cast<File*>(static_cast<void*>(of));
}
sqlite3_file* real(sqlite3_file* of) {
    return file(of).real();
}
const sqlite3_io_methods& methods(sqlite3_file* of) {
    return *real(of)->pMethods;
}

int write(sqlite3_file* of, const void* bytes, int size, sqlite3_int64 at) {
    if (file(of).log) {
        if (const int code = disk().ask(Does::write); code != SQLITE_OK) return code;
    }
    return methods(of).xWrite(real(of), bytes, size, at);
}
int sync(sqlite3_file* of, int flags) {
    if (file(of).log) {
        if (const int code = disk().ask(Does::sync); code != SQLITE_OK) return code;
    }
    return methods(of).xSync(real(of), flags);
}

const sqlite3_io_methods transient{
    2,
    [](sqlite3_file* f) { return methods(f).xClose(real(f)); },
    [](sqlite3_file* f, void* to, int size, sqlite3_int64 at) {
        return methods(f).xRead(real(f), to, size, at);
    },
    write,
    [](sqlite3_file* f, sqlite3_int64 size) { return methods(f).xTruncate(real(f), size); },
    sync,
    [](sqlite3_file* f, sqlite3_int64* size) { return methods(f).xFileSize(real(f), size); },
    [](sqlite3_file* f, int lock) { return methods(f).xLock(real(f), lock); },
    [](sqlite3_file* f, int lock) { return methods(f).xUnlock(real(f), lock); },
    [](sqlite3_file* f, int* taken) { return methods(f).xCheckReservedLock(real(f), taken); },
    [](sqlite3_file* f, int op, void* arg) { return methods(f).xFileControl(real(f), op, arg); },
    [](sqlite3_file* f) { return methods(f).xSectorSize(real(f)); },
    [](sqlite3_file* f) { return methods(f).xDeviceCharacteristics(real(f)); },
    [](sqlite3_file* f, int page, int size, int extend, volatile void** at) {
        return methods(f).xShmMap(real(f), page, size, extend, at);
    },
    [](sqlite3_file* f, int at, int n, int flags) {
        return methods(f).xShmLock(real(f), at, n, flags);
    },
    [](sqlite3_file* f) { return methods(f).xShmBarrier(real(f)); },
    [](sqlite3_file* f, int remove) { return methods(f).xShmUnmap(real(f), remove); },
    nullptr,
    nullptr};

sqlite3_vfs* system_layer{};

int open(sqlite3_vfs*, const char* name, sqlite3_file* as, int flags, int* flags_out) {
    auto& made = file(as);
    made.log = (flags & SQLITE_OPEN_WAL) != 0;
    made.base.pMethods = nullptr;
    const int code = system_layer->xOpen(system_layer, name, made.real(), flags, flags_out);
    if (made.real()->pMethods != nullptr) made.base.pMethods = &transient;
    return code;
}

void put_the_layer_in() {
    static sqlite3_vfs layer = [] {
        system_layer = sqlite3_vfs_find(nullptr);
        auto made = *system_layer;
        made.zName = "failing";
        made.szOsFile += static_cast<int>(sizeof(File));
        made.xOpen = open;
        return made;
    }();
    sqlite3_vfs_register(&layer, 1);
}

class CommitTest : public ::testing::Test {
protected:
    CommitTest() {
        put_the_layer_in();
        open();
        write_one(*store, notes::create);
        write_one(*store, notes::insert, "before");
    }
    ~CommitTest() override { sqlite3_vfs_register(system_layer, 1); }

    void open() {
        store = std::make_unique<SqliteStore>(SqliteOptions{.path = folder.file("test.db")}, clock);
    }
    std::vector<std::string> texts() { return read_rows<std::string>(*store, notes::texts); }

    Folder folder;
    HandClock clock;
    std::unique_ptr<SqliteStore> store;
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_F(CommitTest, an_answered_commit_is_on_disk) {
    for (int i = 0; i < 5; ++i) {
        const auto before = disk().syncs;

        write_one(*store, notes::insert, std::to_string(i));

        EXPECT_GT(disk().syncs, before);
    }
}

TEST_F(CommitTest, a_failed_commit_reports_its_effect_and_the_next_works) {
    struct Case {
        const char* name;
        Does does;
        int code;
        int passes;
        Kind kind;
        Effect effect;
    };
    for (const auto& planned : std::vector<Case>{
             {"full", Does::write, SQLITE_FULL, 0, Kind::full, Effect::in_doubt},
             {"full in its midst", Does::write, SQLITE_FULL, 1, Kind::full, Effect::in_doubt},
             {"broken", Does::write, SQLITE_IOERR_WRITE, 0, Kind::unavailable, Effect::in_doubt},
             {"not flushed",
              Does::sync,
              SQLITE_IOERR_FSYNC,
              0,
              Kind::unavailable,
              Effect::in_doubt},
             {"locked", Does::write, SQLITE_BUSY, 0, Kind::busy, Effect::rolled_back}}) {
        SCOPED_TRACE(planned.name);
        auto failing = [&](Session& session) {
            change(session, notes::insert, "lost");
            disk().fail(planned.does, planned.code, planned.passes);
        };

        const auto error = error_of([&] { write_now(*store, failing); });

        EXPECT_EQ(error.kind(), planned.kind);
        EXPECT_EQ(error.effect(), planned.effect);
        EXPECT_EQ(error.statement(), "commit");
        EXPECT_EQ(error.safe_to_repeat(), planned.effect == Effect::rolled_back);
        EXPECT_NE(texts().back(), "lost") << "nobody may see it";
        write_one(*store, notes::insert, std::string{"after "} + planned.name);
    }
    EXPECT_EQ(texts().size(), 6);
}

TEST_F(CommitTest, failed_commits_do_no_harm_to_the_file) {
    for (int i = 0; i < 20; ++i) {
        (void)error_of([&] {
            write_now(*store, [&](Session& session) {
                change(session, notes::insert, "lost");
                disk().fail(
                    i % 2 == 0 ? Does::write : Does::sync, SQLITE_IOERR, i % 6 == 0 ? 1 : 0
                );
            });
        });
        disk().failing.reset();
        write_one(*store, notes::insert, std::to_string(i));
    }
    const auto before = texts();

    store.reset();
    open();

    EXPECT_EQ(texts(), before);
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open(folder.file("test.db").c_str(), &raw), SQLITE_OK);
    std::string verdict;
    sqlite3_exec(
        raw,
        "PRAGMA integrity_check",
        [](void* to, int, char** column, char**) {
            static_cast<std::string*>(to)->append(column[0]);
            return 0;
        },
        &verdict,
        nullptr
    );
    sqlite3_close(raw);
    EXPECT_EQ(verdict, "ok");
}

TEST_F(CommitTest, all_works_of_a_failed_commit_get_the_same_error) {
    std::promise<void> running;
    std::promise<void> go_on;
    Ending blocking;
    store->write(blocking.work([&](Session&) {
        running.set_value();
        go_on.get_future().wait_for(20s);
    }));
    running.get_future().wait();
    std::vector<Ending> endings(10);
    for (std::size_t i = 0; i < endings.size(); ++i)
        store->write(endings[i].work([i](Session& session) {
            change(session, notes::insert, std::to_string(i));
            if (i == 9) disk().fail(Does::write, SQLITE_FULL);
        }));
    const auto before = store->stats().commits;
    go_on.set_value();

    for (const auto& ending : endings) {
        const auto error = ending.error();
        ASSERT_TRUE(error);
        EXPECT_EQ(error->kind(), Kind::full);
        EXPECT_EQ(error->effect(), Effect::in_doubt);
    }
    EXPECT_EQ(texts(), Texts{"before"});
    EXPECT_EQ(store->stats().commits, before + 1) << "that of the work before them";
}

}  // namespace pawl::sqlite
