#include "src/ops/lone_runs.hpp"

#include "src/core/assert.hpp"

namespace pawl::ops {

bool LoneRuns::begin() {
    const std::lock_guard lock{mutex_};
    if (lone_) return false;
    ++turns_;
    return true;
}

void LoneRuns::end(bool alone) {
    {
        const std::lock_guard lock{mutex_};
        PAWL_ASSERT(turns_ > 0);
        --turns_;
        if (alone) {
            const auto now = clock_.steady();
            lone_ = false;
            others_until_ = now + (now - began_);
        }
    }
    changed_.notify_all();
}

LoneRuns::Turn::Alone LoneRuns::wait_for_others(std::chrono::milliseconds limit) {
    std::unique_lock lock{mutex_};
    if (lone_ || clock_.steady() < others_until_) return Turn::Alone::another_is;
    lone_ = true;
    if (!changed_.wait_for(lock, limit, [this] { return turns_ == 1; })) {
        lone_ = false;
        return Turn::Alone::others_run;
    }
    began_ = clock_.steady();
    return Turn::Alone::yes;
}

}  // namespace pawl::ops
