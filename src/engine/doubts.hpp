#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace pawl::engine {

// The foreign calls of this process that have no recorded end: those in flight, and after the stop
// began those that ended in doubt. What `stopped` reports. Thread-safe.
class Doubts {
public:
    // A call of this key is about to be made.
    void begin(std::int64_t key_id);
    // The call ended without a result, and its provider may have carried it out.
    void in_doubt(std::int64_t key_id);
    // The attempt is over: recorded, or without an effect. A doubt after the stop began stays.
    void end(std::int64_t key_id);
    // From now on doubts are remembered.
    void stop();

    struct Report {
        std::size_t count{};
        std::string keys;  // Ids; the first 20, and how many more.
    };
    Report report() const;

private:
    mutable std::mutex mutex_;
    std::map<std::int64_t, bool> calls_;  // By id of the key: whether it ended in doubt.
    bool stopping_{false};
};

}  // namespace pawl::engine
