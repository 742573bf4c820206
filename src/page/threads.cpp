#include "src/page/threads.hpp"

#include "src/base/thread_name.hpp"

#include <utility>

namespace pawl::page {

Threads::Threads(int count, std::size_t waiting_max) : waiting_max_{waiting_max} {
    for (int i = 0; i < count; ++i)
        threads_.emplace_back([this](const std::stop_token& stop) {
            base::name_this_thread("pawl-page");
            run(stop);
        });
}

bool Threads::add(std::function<void()> work) {
    {
        const std::lock_guard lock{mutex_};
        if (waiting_.size() >= waiting_max_) return false;
        waiting_.push_back(std::move(work));
    }
    changed_.notify_one();
    return true;
}

void Threads::run(const std::stop_token& stop) {
    while (true) {
        std::unique_lock lock{mutex_};
        if (!changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) return;
        if (stop.stop_requested()) return;
        auto work = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        work();
    }
}

}  // namespace pawl::page
