#include "src/core/restore_gap.hpp"

#include <algorithm>

namespace pawl::core {

std::optional<TimePoint> restore_gap_start(
    std::span<const RestoreGap> lost, std::int64_t key_id, TimePoint now
) noexcept {
    std::optional<TimePoint> since;
    for (const auto& time : lost) {
        if (key_id > time.last_key_id && now >= time.keys_until) continue;
        since = since ? std::min(*since, time.since) : time.since;
    }
    return since;
}

bool may_have_gone_on(
    std::span<const RestoreGap> lost, std::int64_t key_id, int generation, TimePoint called_at
) noexcept {
    return std::ranges::any_of(lost, [&](const RestoreGap& time) {
        if (key_id <= time.last_key_id) return called_at <= time.opened;
        return generation == 0 && called_at <= time.keys_until;
    });
}

bool is_behind(const Mark& database, const Mark& outside) noexcept {
    return database.number < outside.number || database.at < outside.at ||
           database.key_id < outside.key_id || database.calls < outside.calls;
}

}  // namespace pawl::core
