#include "src/store/sqlite/file_watch.hpp"

#include "src/store/sqlite/connection.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

namespace pawl::sqlite {

namespace {

// The file format, 1.3: a string at 0, the change counter at 24, pages at 28, application_id at 68.
constexpr std::size_t header_size = 72;
constexpr std::string_view format{"SQLite format 3\0", 16};

std::uint32_t number_at(const std::array<unsigned char, header_size>& header, std::size_t at) {
    return std::uint32_t{header[at]} << 24U | std::uint32_t{header[at + 1]} << 16U |
           std::uint32_t{header[at + 2]} << 8U | std::uint32_t{header[at + 3]};
}

bool same(const timespec& a, const timespec& b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace

std::optional<FileAge> read_age(int file) {
    std::array<unsigned char, header_size> header{};
    if (::pread(file, header.data(), header.size(), 0) != static_cast<ssize_t>(header.size()))
        return std::nullopt;
    if (std::memcmp(header.data(), format.data(), format.size()) != 0) return std::nullopt;
    if (number_at(header, 68) != application_id) return std::nullopt;
    return FileAge{number_at(header, 24), number_at(header, 28)};
}

FileWatch::FileWatch(std::string database, int file) : file_{file} {
    struct stat found {};
    if (file_ < 0)
        add(std::move(database));
    else if (::fstat(file_, &found) == 0)
        files_.push_back({std::move(database), found.st_dev, found.st_ino});
    if (file_ >= 0) age_ = read_age(file_);
    age_is_new_ = age_.has_value();
}

std::optional<FileAge> FileWatch::take_new_age() {
    const std::lock_guard guard{mutex_};
    if (!std::exchange(age_is_new_, false)) return std::nullopt;
    return age_;
}

void FileWatch::add(std::string path) {
    struct stat found {};
    if (::stat(path.c_str(), &found) == 0)
        files_.push_back({std::move(path), found.st_dev, found.st_ino});
}

std::string FileWatch::check() {
    const std::lock_guard guard{mutex_};
    if (!in_trouble_) {
        trouble_ = inspect();
        in_trouble_ = !trouble_.empty();
    }
    return trouble_;
}

std::string FileWatch::check_lately(std::chrono::steady_clock::time_point now) {
    const auto at = now.time_since_epoch().count();
    const auto age = std::chrono::steady_clock::duration{at - checked_};
    if (!in_trouble_ && age >= std::chrono::steady_clock::duration{0} && age < read_every)
        return {};
    checked_ = at;
    return check();
}

std::string FileWatch::inspect() {
    struct stat found {};
    for (const auto& file : files_) {
        if (::stat(file.path.c_str(), &found) != 0) {
            if (errno == ENOENT || errno == ENOTDIR) return file.path + " was removed or renamed";
            return file.path + " can't be checked: " + std::strerror(errno);
        }
        if (found.st_dev != file.device || found.st_ino != file.inode)
            return file.path + " was replaced by another file";
        if (&file != &files_.front() || !age_) continue;
        auto why = look_at_age(found.st_mtim, found.st_size);
        if (!why.empty()) return why;
    }
    return {};
}

std::string FileWatch::look_at_age(const timespec& modified, off_t size) {
    if (same(modified, modified_) && size == size_) return {};
    const auto age = read_age(file_);
    if (!age || *age < *age_) return files_.front().path + " was overwritten by another database";
    age_is_new_ = age_is_new_ || *age != *age_;
    age_ = age;
    modified_ = modified;
    size_ = size;
    return {};
}

}  // namespace pawl::sqlite
