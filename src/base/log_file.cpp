#include "src/base/log_file.hpp"

#include "src/base/log.hpp"
#include "src/base/private_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace pawl::log {

namespace {

constexpr std::size_t flush_from = 64UL * 1024;
constexpr std::size_t waiting_max = 8UL * 1024 * 1024;  // While the disk hangs.

int open_log(const std::string& path) {
    if (path == "-") return STDERR_FILENO;
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, base::private_mode);
}

}  // namespace

LogFile::LogFile(std::string what, std::string path)
    : what_{std::move(what)}, path_{std::move(path)}, file_{open_log(path_)} {
    if (file_ < 0) throw std::runtime_error{why_not_written()};
}

std::string LogFile::why_not_written() const {
    return "the " + what_ + " " + path_ + " can't be written: " + std::strerror(errno);
}

LogFile::~LogFile() {
    flush();
    if (file_ != STDERR_FILENO) ::close(file_);
}

bool LogFile::append(std::string_view line) {
    const std::lock_guard lock{mutex_};
    if (waiting_.size() + line.size() >= waiting_max) {
        lost_ += line.size() + 1;
        return true;
    }
    waiting_.append(line).push_back('\n');
    return waiting_.size() >= flush_from || path_ == "-";
}

void LogFile::flush() {
    const std::lock_guard lock{writing_};
    write_out();
}

// Called with writing_ held. A full disk loses lines, but blocks no other thread.
void LogFile::write_out() {
    std::string text;
    {
        const std::lock_guard lock{mutex_};
        text.swap(waiting_);
    }
    std::string_view left{text};
    while (!left.empty()) {
        const auto written = ::write(file_, left.data(), left.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) break;
        left.remove_prefix(static_cast<std::size_t>(written));
    }
    if (left.empty()) return;
    const std::lock_guard lock{mutex_};
    lost_ += left.size();
}

std::uint64_t LogFile::take_lost() {
    const std::lock_guard lock{mutex_};
    return std::exchange(lost_, 0);
}

std::optional<std::string> LogFile::reopen() {
    const std::lock_guard lock{writing_};
    write_out();
    if (file_ == STDERR_FILENO) return std::nullopt;
    const int opened = open_log(path_);
    if (opened < 0) return why_not_written();
    ::close(std::exchange(file_, opened));
    return std::nullopt;
}

void warn_if_others_can_read(std::string_view what, const std::string& path) {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return;
    if ((found.st_mode & S_IROTH) == 0) return;
    warning(
        "file_readable_by_all",
        {{"code", "PAWL0015"},
         {"what", what},
         {"file", path},
         {"detail", "every user of this machine can read it: chmod o-rwx"}}
    );
}

}  // namespace pawl::log
