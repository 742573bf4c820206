#pragma once

#include "src/store/sqlite/file_watch.hpp"

#include <string>

namespace pawl::sqlite {

// Ensures that one server owns a SQLite file, by two locks that the system releases when the
// process dies: one on "<path>.lock" beside the file, and one on the file itself, in case the lock
// file is removed.
//
// The lock file also records whose write-ahead log is beside it ("pid inode counter pages"): SQLite
// would write a log left by one file into another file of the same name.
class OwnerLock {
public:
    // Makes both files where there are none. Throws StoreError: PAWL0002 if another holds them,
    // PAWL0016 if the log that is there is another file's.
    explicit OwnerLock(const std::string& database);
    ~OwnerLock();
    OwnerLock(const OwnerLock&) = delete;
    OwnerLock& operator=(const OwnerLock&) = delete;

    const std::string& path() const { return path_; }
    // Open on the database. Closed after all connections, as closing it would drop SQLite's locks
    // on the file in this process.
    int database() const { return database_; }

    // Call when the file is on disk in the state from which `age` was read: after a power failure
    // the record must not be ahead of the file. Waits for the disk.
    void record(FileAge age) noexcept;

private:
    void open_lock(const std::string& database);
    void open_database(const std::string& database);
    void check_log(const std::string& database, const std::string& resolved);
    void close() noexcept;

    std::string path_;
    int file_{-1};
    int database_{-1};
};

}  // namespace pawl::sqlite
