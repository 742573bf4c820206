#include "src/locks/lease_renewer.hpp"

#include "src/base/thread_name.hpp"
#include "src/core/assert.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace pawl::locks {

using std::chrono::milliseconds;

LeaseRenewer::LeaseRenewer(LeaseBackend& backend, base::Clock& clock)
    : backend_{backend}, clock_{clock} {
    try {
        renewing_ = std::thread{[this] {
            base::name_this_thread("pawl-leases");
            while (const auto first = wait_for_first(&Held::renew_at)) renew(first);
        }};
        watching_ = std::thread{[this] {
            base::name_this_thread("pawl-lease-ends");
            while (const auto first = wait_for_first(&Held::end)) lose(first);
        }};
    } catch (...) {  // No second thread could be made: the first must be joined.
        stop();
        throw;
    }
}

LeaseRenewer::~LeaseRenewer() {
    stop();
}

void LeaseRenewer::stop() noexcept {
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
    }
    changed_.notify_all();
    for (auto* thread : {&renewing_, &watching_})
        if (thread->joinable()) thread->join();
}

void LeaseRenewer::keep(std::shared_ptr<Held> held, core::SteadyTime asked_at) {
    {
        const std::lock_guard lock{mutex_};
        PAWL_ASSERT(!held->over);
        count_from(*held, asked_at);
        const bool fresh = held_.insert(held).second;
        PAWL_ASSERT(fresh);
    }
    changed_.notify_all();
}

void LeaseRenewer::count_from(Held& held, core::SteadyTime asked_at) {
    held.end = core::holder_end(asked_at, held.ttl);
    held.renew_at = core::renewal_due(asked_at, held.ttl);
    PAWL_ASSERT(
        held.end < asked_at + held.ttl
    );  // It stops before the backend gives it away (I23).
    PAWL_ASSERT(held.renew_at < held.end);
}

bool LeaseRenewer::is_held(const Held& held) {
    const auto now = clock_.steady();
    const std::lock_guard lock{mutex_};
    return !held.over && now < held.end;
}

std::optional<bool> LeaseRenewer::released(Held& held) {
    const auto now = clock_.steady();
    const std::lock_guard lock{mutex_};
    if (std::exchange(held.released, true)) return std::nullopt;
    const bool was_held = !held.over && now < held.end;
    held.over = true;
    std::erase_if(held_, [&](const auto& one) { return one.get() == &held; });
    return was_held;
}

// Requests stop without the mutex, as its callbacks may call this object.
void LeaseRenewer::lose(const std::shared_ptr<Held>& held) {
    {
        const std::lock_guard lock{mutex_};
        held_.erase(held);
        if (std::exchange(held->over, true)) return;
    }
    held->lost.request_stop();
}

std::shared_ptr<Held> LeaseRenewer::wait_for_first(core::SteadyTime Held::*time) {
    std::unique_lock lock{mutex_};
    while (!stopping_) {
        const auto first =
            std::min_element(held_.begin(), held_.end(), [time](const auto& a, const auto& b) {
                return (*a).*time < (*b).*time;
            });
        if (first == held_.end()) {
            changed_.wait(lock);
            continue;
        }
        // A copy, as it may change meanwhile.
        const auto at = (**first).*time;
        if (at <= clock_.steady()) return *first;
        changed_.wait_until(lock, at);
    }
    return nullptr;
}

void LeaseRenewer::renew(const std::shared_ptr<Held>& held) {
    const auto asked_at = clock_.steady();
    bool extended = false;
    try {
        extended = backend_.extend(held->name, held->epoch, held->holder, held->ttl);
    } catch (const std::exception&) {  // The next renewal may succeed before the lease ends.
        const std::lock_guard lock{mutex_};
        held->renew_at = core::renewal_due_again(clock_.steady(), held->ttl);
        return;
    }
    const auto now = clock_.steady();
    {
        const std::lock_guard lock{mutex_};
        if (held->over) return;
        // An answer after the end is ignored: is_held() has already returned false.
        if (extended && now < held->end) return count_from(*held, asked_at);
    }
    lose(held);
}

}  // namespace pawl::locks
