#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace pawl::engine {

// The foreign calls of this process without a recorded end: those in flight, and those that ended
// in doubt after the stop began. The event `stopped` reports them. Thread-safe.
class InFlightCalls {
public:
    // A call for this key is about to be made.
    void begin(std::int64_t key_id);
    // The call ended without a result, and may have had an effect.
    void in_doubt(std::int64_t key_id);
    // The attempt ended: a recorded result, or no effect. Keeps a doubt since the stop.
    void end(std::int64_t key_id);
    // From now on calls in doubt are remembered.
    void stop();

    struct Report {
        std::size_t count{};
        std::string keys;  // Key ids: the first 20, and the number of the others.
    };
    Report report() const;

private:
    mutable std::mutex mutex_;
    std::map<std::int64_t, bool> calls_;  // By key id: whether it ended in doubt.
    bool stopping_{false};
};

}  // namespace pawl::engine
