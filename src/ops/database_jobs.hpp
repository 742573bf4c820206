#pragma once

#include <pawl/database.hpp>

#include "src/engine/staging.hpp"

#include <functional>
#include <mutex>
#include <utility>

namespace pawl {

// How Database::write() stages its jobs, and the callback that it notifies. The service sets both
// on the database for as long as the service exists.
class Database::Jobs {
public:
    void serve(engine::Staging staging, std::function<void()> on_staged) {
        const std::lock_guard lock{mutex_};
        staging_ = staging;
        on_staged_ = std::move(on_staged);
    }
    // After this has returned, there are no more notifications.
    void leave() { serve(staging(), {}); }
    engine::Staging staging() {
        const std::lock_guard lock{mutex_};
        return staging_;
    }
    void staged() {
        const std::lock_guard lock{mutex_};
        if (on_staged_) on_staged_();
    }

private:
    std::mutex mutex_;
    engine::Staging staging_{engine::Staging::as_job};
    std::function<void()> on_staged_;
};

}  // namespace pawl
