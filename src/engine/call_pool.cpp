#include "src/engine/call_pool.hpp"

#include "src/base/thread_name.hpp"

#include <chrono>
#include <system_error>
#include <utility>

namespace pawl::engine {

using namespace std::chrono_literals;

namespace {

std::thread make_plain_thread(std::function<void()> f) {
    return std::thread{std::move(f)};
}

}  // namespace

CallPool::CallPool(int threads_max, MakeThread make_thread)
    : threads_max_{threads_max},
      make_thread_{make_thread ? std::move(make_thread) : make_plain_thread} {}

CallPool::~CallPool() {
    request_stop();
    std::unique_lock lock{mutex_};
    closing_ = true;
    posted_.notify_all();
    thread_left_.wait(lock, [this] { return threads_.empty(); });
    lock.unlock();
    join_ended();
}

bool CallPool::post(std::function<void()> f) {
    join_ended();
    // Also for the waking: the call may end, and this pool with it, before this thread goes on.
    const std::lock_guard lock{mutex_};
    line_.push_back(std::move(f));
    if (idle_ >= static_cast<int>(line_.size())) {
        // A posting thread has answers to deliver, so it wakes one thread only; each thread that
        // takes a call wakes the next one while there are more.
        if (line_.size() == 1) posted_.notify_one();
    } else if (static_cast<int>(threads_.size()) < threads_max_) {
        const auto self = threads_.emplace(threads_.end());
        try {
            *self = make_thread_([this, self] { loop(self); });
        } catch (const std::system_error&) {  // The limit on threads or memory (pids cgroup).
            threads_.erase(self);
            if (threads_.empty()) {
                line_.pop_back();
                return false;
            }
        }
    }
    return true;
}

bool CallPool::is_full() {
    const std::lock_guard lock{mutex_};
    return line_.size() >= static_cast<std::size_t>(threads_max_);
}

int CallPool::in_flight() {
    const std::lock_guard lock{mutex_};
    return static_cast<int>(threads_.size() + line_.size()) - idle_;
}

void CallPool::loop(std::list<std::thread>::iterator self) {
    base::name_this_thread("pawl-call");
    std::unique_lock lock{mutex_};
    while (true) {
        ++idle_;
        const bool work =
            posted_.wait_for(lock, 10s, [this] { return closing_ || !line_.empty(); });
        --idle_;
        if (!line_.empty()) {
            auto f = std::move(line_.front());
            line_.pop_front();
            const bool more = !line_.empty() && idle_ > 0;
            lock.unlock();
            if (more) posted_.notify_one();
            f();
            f = nullptr;
            lock.lock();
            continue;
        }
        if (closing_ || !work) break;
    }
    ended_.splice(ended_.end(), threads_, self);
    thread_left_.notify_all();
}

void CallPool::join_ended() {
    std::list<std::thread> ended;
    {
        const std::lock_guard lock{mutex_};
        if (ended_.empty()) return;
        ended.swap(ended_);
    }
    for (auto& thread : ended) thread.join();
}

}  // namespace pawl::engine
