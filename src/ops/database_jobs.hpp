#pragma once

#include <pawl/database.hpp>

#include "src/engine/staging.hpp"

#include <functional>
#include <mutex>
#include <utility>

namespace pawl {

// Where the jobs go that Database::write() stages, and who is told of them: set by the service on
// the database, as long as there is one.
class Database::Jobs {
public:
    void serve(engine::Staging staging, std::function<void()> on_staged) {
        const std::lock_guard lock{mutex_};
        staging_ = staging;
        on_staged_ = std::move(on_staged);
    }
    // Nobody is told any more once this has returned.
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
