#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace rides {

// An append-only file, one JSON object per line, durable before any answer. All waiting lines are
// written with one write and one fdatasync. It is the tests' ground truth of real charges.
class Ledger {
public:
    enum class Sync { yes, no };                 // no: for benchmarks only.
    Ledger(const std::string& path, Sync sync);  // Throws std::runtime_error that names the file.
    ~Ledger();

    // The file's lines when it was opened, without a torn last line.
    const std::vector<std::string>& lines() const { return lines_; }
    // `written` runs when the line is on the disk: on the ledger's thread; at once without Sync.
    void append(std::string line, std::function<void()> written);

private:
    struct Entry {
        std::string line;
        std::function<void()> written;
    };
    void put(const std::string& text);
    void loop();

    const Sync sync_;
    int file_{-1};
    std::vector<std::string> lines_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Entry> waiting_;
    bool stopping_{false};
    std::thread thread_;
};

}  // namespace rides
