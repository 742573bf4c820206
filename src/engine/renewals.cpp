#include "src/engine/renewals.hpp"

#include <pawl/detail/rows.hpp>

#include "src/core/assert.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace pawl::engine {

Renewals::Renewals(
    store::Store& store, base::Clock& clock, base::Timers& timers, std::chrono::milliseconds lease
)
    : store_{store}, clock_{clock}, timers_{timers}, lease_{lease} {}

std::int64_t Renewals::begin(Held held, std::chrono::steady_clock::time_point leased_at) {
    const std::lock_guard lock{mutex_};
    const auto id = held.key_id;
    const auto [at, fresh] = held_.try_emplace(
        id, Entry{std::move(held), leased_at, std::make_shared<std::atomic<bool>>(false)}
    );
    PAWL_ASSERT(fresh);  // One call of a key at a time (I11).
    if (!ticking_) {
        ticking_ = true;
        timers_.after(lease_ / 6, [this] { tick(); });
    }
    return id;
}

void Renewals::end(std::int64_t key_id) {
    const std::lock_guard lock{mutex_};
    const auto ended = held_.erase(key_id);
    PAWL_ASSERT(ended == 1);
}

// Twice in each third of a lease, so that each is renewed before half of its life.
void Renewals::tick() {
    std::vector<Entry> due;
    {
        const std::lock_guard lock{mutex_};
        const auto now = clock_.steady();
        for (auto& [id, entry] : held_) {
            const bool has_failed = entry.failed->exchange(false);
            if (!has_failed && now - entry.renewed_at < lease_ / 3) continue;
            entry.renewed_at = now;
            due.push_back(entry);
        }
        ticking_ = !held_.empty();
        if (ticking_) timers_.after(lease_ / 6, [this] { tick(); });
    }
    for (const auto& entry : due) renew(entry);
}

void Renewals::renew(const Entry& entry) {
    store_.write(
        store::work(
            [held = entry.held, lease = lease_](store::Session& session) {
                detail::run_statement(
                    session,
                    sql::renew_lease,
                    [](const detail::Row&) {},
                    held.key_id,
                    held.attempt,
                    held.recovery_point,
                    session.now() + lease
                );
            },
            // A failed one is tried again at the next tick; the fence of the next write decides.
            [has_failed = entry.failed](const std::exception_ptr& failed) {
                if (failed) *has_failed = true;
            }
        ),
        store::Urgency::first
    );
}

}  // namespace pawl::engine
