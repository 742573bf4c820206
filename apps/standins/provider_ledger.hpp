#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace rides {

// An append-only file, one JSON object a line, durable before anybody is told. All lines that wait
// go out with one write and one fdatasync. The ground truth of the tests: what was really charged
// stands here.
class Ledger {
public:
    enum class Sync { yes, no };                 // no: for benchmarks only.
    Ledger(const std::string& path, Sync sync);  // Throws std::runtime_error that names the file.
    ~Ledger();

    // What stood in the file when it was opened, a torn last line left out.
    const std::vector<std::string>& lines() const { return lines_; }
    // `written` runs once the line is on the disk: on the ledger's thread, or at once without Sync.
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
