#include "src/engine/in_flight_calls.hpp"

#include "src/core/assert.hpp"

namespace pawl::engine {

namespace {
constexpr std::size_t keys_listed = 20;
}  // namespace

void InFlightCalls::begin(std::int64_t key_id) {
    const std::lock_guard lock{mutex_};
    calls_[key_id] = false;
}

void InFlightCalls::in_doubt(std::int64_t key_id) {
    const std::lock_guard lock{mutex_};
    const auto call = calls_.find(key_id);
    PAWL_ASSERT(call != calls_.end());  // It was begun, and its attempt is not over.
    if (stopping_) call->second = true;
}

void InFlightCalls::end(std::int64_t key_id) {
    const std::lock_guard lock{mutex_};
    const auto at = calls_.find(key_id);
    if (at != calls_.end() && !at->second) calls_.erase(at);
}

void InFlightCalls::stop() {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
}

InFlightCalls::Report InFlightCalls::report() const {
    const std::lock_guard lock{mutex_};
    Report report{.count = calls_.size(), .keys = {}};
    std::size_t listed = 0;
    for (const auto& [key_id, in_doubt] : calls_) {
        if (listed++ == keys_listed) break;
        report.keys += (report.keys.empty() ? "" : " ") + std::to_string(key_id);
    }
    if (report.count > keys_listed)
        report.keys += " and " + std::to_string(report.count - keys_listed) + " more";
    return report;
}

}  // namespace pawl::engine
