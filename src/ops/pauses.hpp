#pragma once

#include "src/base/clock.hpp"
#include "src/store/store.hpp"

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pawl::ops {

using namespace std::chrono_literals;

struct Pause {
    std::string queue;
    std::optional<TimePoint> since;  // nullopt: the stored text is not a time (PAWL0022).
    std::string by;
    std::string reason;
};

// Queues from which no worker takes a job until people resume them; jobs in flight go on. Kept in
// the database: it holds for all servers and survives them. Thread-safe; all throw StoreError.
class Pauses {
public:
    // Both outlive it. paused() may be out of date by `remembered`.
    Pauses(store::Store& store, base::Clock& clock, std::chrono::milliseconds remembered = 500ms);

    bool paused(const std::string& queue);
    std::vector<Pause> list();
    // False if the queue was paused already. Pauses and resumes are in the audit log.
    bool pause(const std::string& queue, const std::string& by, const std::string& reason);
    bool resume(const std::string& queue, const std::string& by, const std::string& reason);

private:
    struct Known {
        bool paused{};
        std::chrono::steady_clock::time_point until;
    };

    store::Store& store_;
    base::Clock& clock_;
    std::chrono::milliseconds remembered_;
    std::mutex mutex_;
    std::map<std::string, Known> known_;
};

}  // namespace pawl::ops
