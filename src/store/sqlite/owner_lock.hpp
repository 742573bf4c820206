#pragma once

#include "src/store/sqlite/file_watch.hpp"

#include <string>

namespace pawl::sqlite {

// One server owns a SQLite file. Two locks, both freed by the system when its process dies: one on
// "<path>.lock" beside the file, and one on the file itself, which holds where the other was
// removed.
//
// The lock file also says whose write-ahead log lies beside it ("pid inode counter pages"). A log
// that is left beside another file would be written into that file by the next to open it.
class OwnerLock {
public:
    // Makes both files where there are none. Throws StoreError: PAWL0002 if another holds them,
    // PAWL0016 if the log that is there is another file's.
    explicit OwnerLock(const std::string& database);
    ~OwnerLock();
    OwnerLock(const OwnerLock&) = delete;
    OwnerLock& operator=(const OwnerLock&) = delete;

    const std::string& path() const { return path_; }
    // Open on the database. It is closed after all connections: closing it would take away the
    // locks that SQLite has on the file in this process.
    int database() const { return database_; }

    // Once the file is on the disk as it was when `age` was read: after a power failure the record
    // must not be ahead of the file. Waits for the disk.
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
