#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <utility>

// Where a thread waits for others. A simulator has one thread for all: instead of blocking, it runs
// the others until the condition holds.
namespace pawl::base {

using CooperativeWait = std::function<void(const std::function<bool()>& is_there)>;
// What this thread runs while it waits; empty: it blocks.
inline CooperativeWait& while_waiting() {
    thread_local CooperativeWait others;
    return others;
}

template <class T>
T wait_for(std::future<T> future) {
    if (const auto& others = while_waiting())
        others([&future] {
            return future.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
        });
    return future.get();
}

// Like condition.wait(lock, is_there).
template <class Condition, class Lock, class IsThere>
void wait_for(Condition& condition, Lock& lock, IsThere is_there) {
    const auto& others = while_waiting();
    if (!others) return condition.wait(lock, is_there);
    lock.unlock();
    others(is_there);
    lock.lock();
}

}  // namespace pawl::base
