#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pawl::sqlite {

// The age that a database file's header shows. While the file lives, neither value goes back: the
// counter grows with each connection that changes page 1, and Pawl never runs VACUUM.
struct FileAge {
    std::uint32_t change_counter{};
    std::uint32_t pages{};
    friend auto operator<=>(const FileAge&, const FileAge&) = default;
};

// nullopt: not a SQLite database of Pawl.
std::optional<FileAge> read_age(int file);

// Watches whether the store's open files are still those that their paths name. SQLite goes on
// writing to a file that was removed, renamed or replaced, and all its commits are lost at the next
// start. A file that was overwritten in place (cp) is detected by its header, whose values go back.
//
// Thread-safe. A detected problem stays until a restart opens the file anew.
class FileWatch {
public:
    // The maximum age of a check if nothing is written.
    static constexpr std::chrono::milliseconds read_every{50};

    // `file` is open on the database and outlives the watch; -1: the header is not read.
    FileWatch(std::string database, int file);

    // Adds a file, if it exists.
    void add(std::string path);

    // Why the store must stop writing and answering; empty: all is well. About 1 us for each file.
    std::string check();
    // The same, but may return a result that is at most `read_every` old.
    std::string check_lately(std::chrono::steady_clock::time_point now);

    // The file's age: on the first call, and if it has changed since the last one.
    std::optional<FileAge> take_new_age();

private:
    struct Watched {
        std::string path;
        dev_t device{};
        ino_t inode{};
    };
    std::string inspect();
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
