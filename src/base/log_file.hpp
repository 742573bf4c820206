#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::log {

// A file of lines, private to our user, that can be renamed while open: reopen() then creates a new
// one under the old name (logrotate). Thread-safe.
class LogFile {
public:
    // `what` names the file in errors. Path "-": standard error, unbuffered. Throws
    // std::runtime_error, which names the file.
    LogFile(std::string what, std::string path);
    ~LogFile();
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;

    // `line` is without its end. Never writes to the disk, which may hang: flush() does, on another
    // thread. Returns whether a flush is due. The buffer is bounded; lines beyond it are lost.
    bool append(std::string_view line);
    void flush();
    // Lines appended before are in the old file. If the new one can't be opened, the old one stays
    // in use, and the reason is returned.
    std::optional<std::string> reopen();
    // Bytes lost since the last call, as the disk is full or hangs.
    std::uint64_t take_lost();
    const std::string& path() const { return path_; }

private:
    void write_out();
    std::string why_not_written() const;

    const std::string what_;
    const std::string path_;
    std::mutex writing_;  // Guards the file; held during writes, and locked before mutex_.
    int file_{-1};
    std::mutex mutex_;  // Guards the buffer; held briefly.
    std::string waiting_;
    std::uint64_t lost_{};
};

}  // namespace pawl::log
