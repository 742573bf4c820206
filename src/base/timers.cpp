#include "src/base/timers.hpp"

#include "src/base/thread_name.hpp"

#include <utility>

namespace pawl::base {

TimerThread::TimerThread(Clock& clock)
    : clock_{clock}, thread_{[this] {
          name_this_thread("pawl-timers");
          loop();
      }} {}

TimerThread::~TimerThread() {
    stop();
}

void TimerThread::after(std::chrono::milliseconds wait, std::function<void()> f) {
    const std::lock_guard lock{mutex_};
    if (stopping_) return;
    const auto at = due_.emplace(clock_.steady() + wait, std::move(f));
    if (at == due_.begin()) changed_.notify_one();
}

void TimerThread::stop() {
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
}

void TimerThread::loop() {
    std::unique_lock lock{mutex_};
    while (!stopping_) {
        if (due_.empty()) {
            changed_.wait(lock);
            continue;
        }
        const auto first = due_.begin();
        if (first->first > clock_.steady()) {
            changed_.wait_until(lock, first->first);
            continue;
        }
        auto f = std::move(first->second);
        due_.erase(first);
        lock.unlock();
        f();
        f = nullptr;
        lock.lock();
    }
}

}  // namespace pawl::base
