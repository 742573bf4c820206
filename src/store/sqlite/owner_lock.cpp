#include "src/store/sqlite/owner_lock.hpp"

#include <pawl/error.hpp>

#include "src/base/private_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sstream>

namespace pawl::sqlite {

namespace {

[[noreturn]] void fail(const std::string& text) {
    throw StoreError{StoreError::Kind::unavailable, StoreError::Effect::none, "open", text};
}

[[noreturn]] void fail_owned(const std::string& database, const std::string& by) {
    fail(
        "PAWL0002: the database " + database + " is owned by " + by +
        ": one server at a time serves a SQLite file; stop it, or give this one a database of its "
        "own"
    );
}

struct Recorded {
    std::string pid;
    std::uint64_t inode{};
    FileAge age;
    bool complete{};  // False for a lock file of an older release or a new one: it has only a pid.
};

Recorded read_record(int file) {
    std::array<char, 128> text{};
    const auto got = ::pread(file, text.data(), text.size() - 1, 0);
    std::istringstream in{std::string{text.data(), static_cast<std::size_t>(got > 0 ? got : 0)}};
    Recorded found;
    in >> found.pid >> found.inode >> found.age.change_counter >> found.age.pages;
    found.complete = !in.fail();
    return found;
}

bool is_the_same_file(int file, const std::string& path) {
    struct stat open {};
    struct stat named {};
    return ::fstat(file, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
           open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

}  // namespace

OwnerLock::OwnerLock(const std::string& database) {
    // Resolves the path: two names of one file (a symbolic link, ./rides.db) share one lock.
    const auto resolved = std::filesystem::weakly_canonical(database).string();
    path_ = resolved + ".lock";
    try {
        open_lock(database);
        open_database(database);
        check_log(database, resolved);
    } catch (...) {
        close();
        throw;
    }
    record(read_age(database_).value_or(FileAge{}));
}

void OwnerLock::open_lock(const std::string& database) {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, base::private_mode);
    if (file_ < 0) fail("the lock file " + path_ + " can't be opened: " + std::strerror(errno));
    if (::flock(file_, LOCK_EX | LOCK_NB) == 0) {
        // Another user who can open the file could hold the lock, and block a start.
        (void)::fchmod(file_, base::private_mode);
        if (is_the_same_file(file_, path_)) return;
        fail("the lock file " + path_ + " was removed or replaced this moment: start again");
    }
    const auto holder = read_record(file_).pid;
    fail_owned(database, holder.empty() ? "a process" : "process " + holder);
}

// Only locked, not read or written: SQLite opens the file itself. A new file is private, and its
// log gets the same mode.
void OwnerLock::open_database(const std::string& database) {
    database_ = ::open(database.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, base::private_mode);
    if (database_ < 0)
        fail("the database " + database + " can't be opened: " + std::strerror(errno));
    if (::flock(database_, LOCK_EX | LOCK_NB) != 0)
        fail_owned(database, "a process that serves it under another lock file");
}

// Refuses a log that belongs to another file, as SQLite would write it into this one.
void OwnerLock::check_log(const std::string& database, const std::string& resolved) {
    std::error_code failed;
    const auto log = resolved + "-wal";
    const auto size = std::filesystem::file_size(log, failed);
    const auto recorded = read_record(file_);
    struct stat found {};
    if (failed || size == 0 || ::fstat(database_, &found) != 0) return;
    const auto age = read_age(database_);
    // An older release recorded nothing. A log beside an empty file is always foreign.
    const bool known = recorded.complete || found.st_size == 0;
    if (!known || (found.st_ino == recorded.inode && age && *age >= recorded.age)) return;
    fail(
        "PAWL0016: the database " + database + " was replaced, and " + log +
        " is the log of the file that was there before: move it and " + resolved +
        "-shm away before you start; if the database was moved here together with its log, "
        "remove " +
        path_
    );
}

// For operators and for check_log(); the locks do not depend on it.
void OwnerLock::record(FileAge age) noexcept {
    struct stat found {};
    if (::fstat(database_, &found) != 0 || ::fdatasync(database_) != 0) return;
    std::array<char, 128> text{};
    const int size = std::snprintf(
        text.data(),
        text.size(),
        "%d %llu %u %u\n",
        static_cast<int>(::getpid()),
        static_cast<unsigned long long>(found.st_ino),
        age.change_counter,
        age.pages
    );
    if (::pwrite(file_, text.data(), static_cast<std::size_t>(size), 0) == size &&
        ::ftruncate(file_, size) != 0) {
        // Readers ignore what is left after the line.
    }
}

void OwnerLock::close() noexcept {
    if (database_ >= 0) ::close(database_);
    if (file_ >= 0) ::close(file_);
}

OwnerLock::~OwnerLock() {
    close();
}

}  // namespace pawl::sqlite
