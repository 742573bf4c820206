#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::log {

// A file of lines, private to our user, that can be renamed while it is open: reopen() then makes a
// new one under the old name (logrotate). Thread-safe.
class LogFile {
public:
    // `what` is what errors call it. Path "-" is standard error, which is never buffered. Throws
    // std::runtime_error that names the file.
    LogFile(std::string what, std::string path);
    ~LogFile();
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;

    // Without its end. Never writes to the disk, which may hang: flush() does, on another thread.
    // Whether a flush is due; what waits beyond that is bounded, and more is lost.
    bool append(std::string_view line);
    void flush();
    // What was appended before is in the file that was open. If the new one can't be opened the old
    // one stays in use, and this says why.
    std::optional<std::string> reopen();
    // Bytes that were lost since the last call: the disk is full, or hangs.
    std::uint64_t take_lost();
    const std::string& path() const { return path_; }

private:
    void write_out();
    std::string why_not_written() const;

    const std::string what_;
    const std::string path_;
    std::mutex writing_;  // Of the file: held while the disk is written, and taken before mutex_.
    int file_{-1};
    std::mutex mutex_;  // Of what waits: held for a moment.
    std::string waiting_;
    std::uint64_t lost_{};
};

}  // namespace pawl::log
