#include "src/engine/renewals.hpp"

#include <pawl/detail/rows.hpp>

#include "src/core/assert.hpp"
#include "store/statements.hpp"

#include <utility>
#include <vector>

namespace pawl::engine {

Renewals::Renewals(
    store::Store& store, base::Clock& clock, base::Timers& timers, std::chrono::milliseconds lease
)
    : store_{store}, clock_{clock}, timers_{timers}, lease_{lease} {}

// A call may wait for its connection as long as the key is surely ours.
bool Renewals::Lease::lasts() const {
    const std::lock_guard lock{mutex_};
    return core::may_still_call(taken_, clock_.moment(), 2 * length_);
}

void Renewals::Lease::renewed(core::Moment at) {
    const std::lock_guard lock{mutex_};
    taken_ = at;
}

std::shared_ptr<const Renewals::Lease> Renewals::begin(Held held, core::Moment leased) {
    const std::lock_guard lock{mutex_};
    const auto id = held.key_id;
    const auto lease = std::make_shared<Lease>(clock_, leased, lease_);
    const auto [at, fresh] = held_.try_emplace(
        id, Entry{std::move(held), leased.steady, std::make_shared<std::atomic<bool>>(false), lease}
    );
    PAWL_ASSERT(fresh);  // One call of a key at a time (I11).
    if (!ticking_) {
        ticking_ = true;
        timers_.after(lease_ / 6, [this] { tick(); });
    }
    return lease;
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
            if (!has_failed && now - entry.asked_at < lease_ / 3) continue;
            entry.asked_at = now;
            due.push_back(entry);
        }
        ticking_ = !held_.empty();
        if (ticking_) timers_.after(lease_ / 6, [this] { tick(); });
    }
    for (const auto& entry : due) renew(entry);
}

void Renewals::renew(const Entry& entry) {
    const auto at = clock_.moment();
    const auto renewed = std::make_shared<bool>(false);  // Written and read by one transaction.
    store_.write(
        store::work(
            [held = entry.held, length = lease_, renewed](store::Session& session) {
                *renewed = detail::execute_statement(
                               session,
                               sql::renew_lease,
                               held.key_id,
                               held.attempt,
                               held.recovery_point,
                               session.now() + length
                           ) == 1;
            },
            // A failed one is tried again at the next tick; the fence of the next write decides.
            [has_failed = entry.failed, lease = entry.lease, renewed, at](
                const std::exception_ptr& failed
            ) {
                if (failed)
                    *has_failed = true;
                else if (*renewed)
                    lease->renewed(at);
            }
        ),
        store::Urgency::first
    );
}

}  // namespace pawl::engine
