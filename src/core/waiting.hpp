#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <utility>

// Where a thread waits for others. A simulator has one thread for all of them: it is asked to run
// the others meanwhile.
namespace pawl::core {

// What this thread does while it waits, again and again; nothing: it sleeps.
std::function<void()>& while_waiting();

template <class T>
T wait_for(std::future<T> future) {
    if (const auto& others = while_waiting())
        while (future.wait_for(std::chrono::seconds{0}) != std::future_status::ready) others();
    return future.get();
}

// For a condition variable's loop: true if others were run, so that the condition is to be looked
// at again and no notice waited for. The lock is not held meanwhile.
template <class Lock>
bool let_others_run(Lock& lock) {
    const auto& others = while_waiting();
    if (!others) return false;
    lock.unlock();
    others();
    lock.lock();
    return true;
}

}  // namespace pawl::core
