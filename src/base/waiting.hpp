#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <utility>

// Where a thread waits for others. A simulator has one thread for all of them: it is asked to run
// the others until what is waited for is there.
namespace pawl::base {

using Others = std::function<void(const std::function<bool()>& is_there)>;
// What this thread does while it waits; nothing: it sleeps.
Others& while_waiting();

template <class T>
T wait_for(std::future<T> future) {
    if (const auto& others = while_waiting())
        others([&future] {
            return future.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
        });
    return future.get();
}

// As condition.wait(lock, is_there).
template <class Condition, class Lock, class IsThere>
void wait_for(Condition& condition, Lock& lock, IsThere is_there) {
    const auto& others = while_waiting();
    if (!others) return condition.wait(lock, is_there);
    lock.unlock();
    others(is_there);
    lock.lock();
}

}  // namespace pawl::base
