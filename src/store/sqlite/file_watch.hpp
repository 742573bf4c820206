#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pawl::sqlite {

// What the header of a database file says of its age. Within one life of a file neither goes back:
// the counter grows with each connection that changes page 1, and we never vacuum.
struct FileAge {
    std::uint32_t change_counter{};
    std::uint32_t pages{};
    friend auto operator<=>(const FileAge&, const FileAge&) = default;
};

// nullopt: it is no SQLite database of ours.
std::optional<FileAge> read_age(int file);

// Whether the files that a store has open are still those that their paths name. SQLite writes on
// into a file that was removed, renamed or replaced, and all that it commits there is lost at the
// next start. A file that was overwritten in place (cp) is noticed by its header, which goes back.
//
// Thread-safe. What was noticed once stays: only a restart opens the file anew.
class FileWatch {
public:
    // How old a check may be where nothing is written.
    static constexpr std::chrono::milliseconds read_every{50};

    // `file` is open on the database, and outlives the watch; -1: whatever the path names now, and
    // its header is not read.
    FileWatch(std::string database, int file);

    // Adds a file that is there now: one that is not is not watched.
    void add(std::string path);

    // Why nothing may be written or answered any more; empty: all is well. About 1 us a file.
    std::string check();
    // The same, by a check that is at most `read_every` old.
    std::string check_lately(std::chrono::steady_clock::time_point now);

    // The file's age, at first and whenever a check has found it changed since the last call.
    std::optional<FileAge> take_new_age();

private:
    struct Watched {
        std::string path;
        dev_t device{};
        ino_t inode{};
    };
    std::string look();
    std::string look_at_age(const timespec& modified, off_t size);

    std::mutex mutex_;
    std::vector<Watched> files_;  // The first is the database.
    int file_;
    std::optional<FileAge> age_;
    bool age_is_new_{};
    timespec modified_{};
    off_t size_{-1};
    std::string trouble_;
    std::atomic<bool> in_trouble_{false};
    std::atomic<std::chrono::steady_clock::rep> checked_{0};
};

}  // namespace pawl::sqlite
