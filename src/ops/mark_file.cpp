#include "src/ops/mark_file.hpp"

#include <pawl/detail/json.hpp>

#include "src/base/time_text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <variant>

namespace pawl::ops {

namespace {

struct Line {
    std::string installation;
    int epoch{};
    std::int64_t number{};
    std::string at;
    std::int64_t key_id{};
    std::int64_t calls{};
};

[[noreturn]] void fail(const std::string& path, const std::string& why) {
    throw std::runtime_error{"the mark file " + path + " can't be written: " + why};
}

// Closes the file, also when the write fails.
class File {
public:
    explicit File(const std::string& path, int flags) : path_{path} {
        file_ = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
        if (file_ < 0) fail(path_, std::strerror(errno));
    }
    ~File() { ::close(file_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    void write(const std::string& text) const {
        if (::write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
            fail(path_, std::strerror(errno));
    }
    void sync() const {
        if (::fsync(file_) != 0) fail(path_, std::strerror(errno));
    }

private:
    const std::string& path_;
    int file_{-1};
};

}  // namespace

std::optional<OutsideMark> read_mark_file(const std::string& path) {
    std::ifstream file{path};
    if (!file && !std::filesystem::exists(path)) return std::nullopt;
    std::stringstream text;
    text << file.rdbuf();
    const auto decoded = detail::decode<Line>(text.str());
    const auto* line = std::get_if<Line>(&decoded);
    const auto at = line != nullptr ? base::time_from_text(line->at) : std::nullopt;
    if (!at)
        throw std::runtime_error{
            "PAWL0017: the mark file " + path +
            " can't be read, so that nobody can say whether the database was restored: put it "
            "right, or remove it if the database is the one that was served last"};
    return OutsideMark{
        line->installation,
        line->epoch,
        {.number = line->number, .at = *at, .key_id = line->key_id, .calls = line->calls}};
}

void write_mark_file(const std::string& path, const OutsideMark& mark) {
    const auto fresh = path + ".new";
    {
        const File file{fresh, O_WRONLY | O_CREAT | O_TRUNC};
        file.write(
            detail::encode(Line{
                mark.installation,
                mark.epoch,
                mark.mark.number,
                base::time_text(mark.mark.at),
                mark.mark.key_id,
                mark.mark.calls}) +
            "\n"
        );
        file.sync();
    }
    if (::rename(fresh.c_str(), path.c_str()) != 0) fail(path, std::strerror(errno));
    auto folder = std::filesystem::path{path}.parent_path();
    if (folder.empty()) folder = ".";
    const auto name = folder.string();
    File{name, O_RDONLY | O_DIRECTORY}.sync();
}

}  // namespace pawl::ops
