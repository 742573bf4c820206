#include "src/store/sqlite/owner_lock.hpp"

#include <pawl/error.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace pawl::sqlite {

OwnerLock::OwnerLock(const std::string& database) {
    // Of the file itself: two names for it (a symbolic link, ./rides.db) are one lock.
    const auto path = std::filesystem::weakly_canonical(database).string() + ".lock";
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file_ < 0)
        throw StoreError{
            StoreError::Kind::unavailable,
            StoreError::Effect::none,
            "open",
            "the lock file " + path + " can't be opened: " + std::strerror(errno)};
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
        std::array<char, 32> holder{};
        const auto got = ::read(file_, holder.data(), holder.size() - 1);
        ::close(file_);
        const std::string pid =
            got > 0 ? "process " + std::string{holder.data(), static_cast<std::size_t>(got)}
                    : "a process";
        throw StoreError{
            StoreError::Kind::unavailable,
            StoreError::Effect::none,
            "open",
            "PAWL0002: the database " + database + " is owned by " + pid +
                ": one server at a time serves a SQLite file; stop it, or give this one a database "
                "of its own"};
    }
    const auto pid = std::to_string(::getpid());
    if (::ftruncate(file_, 0) != 0 || ::pwrite(file_, pid.data(), pid.size(), 0) < 0) {
        // The pid is for people only; the lock itself stands.
    }
}

OwnerLock::~OwnerLock() {
    ::close(file_);
}

}  // namespace pawl::sqlite
