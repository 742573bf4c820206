#include "src/page/threads.hpp"

#include "src/base/thread_name.hpp"

#include <algorithm>
#include <utility>

namespace pawl::page {

Threads::Threads(Limits limits) : limits_{limits} {
    for (int i = 0; i < limits_.threads; ++i)
        threads_.emplace_back([this](const std::stop_token& stop) {
            base::name_this_thread("pawl-page");
            run(stop);
        });
}

bool Threads::add(std::string sender, std::function<void()> work) {
    {
        const std::lock_guard lock{mutex_};
        const auto of_sender = std::ranges::count(waiting_, sender, &Waiting::sender);
        if (waiting_.size() >= limits_.waiting_max ||
            of_sender >= static_cast<std::ptrdiff_t>(limits_.of_sender_max))
            return false;
        waiting_.push_back({std::move(sender), std::move(work)});
    }
    changed_.notify_one();
    return true;
}

std::deque<Threads::Waiting>::iterator Threads::next() {
    return std::ranges::find_if(waiting_, [this](const Waiting& one) {
        return !at_work_.contains(one.sender);
    });
}

void Threads::run(const std::stop_token& stop) {
    while (true) {
        std::unique_lock lock{mutex_};
        if (!changed_.wait(lock, stop, [this] { return next() != waiting_.end(); })) return;
        if (stop.stop_requested()) return;
        const auto at = next();
        auto one = std::move(*at);
        waiting_.erase(at);
        at_work_.insert(one.sender);
        lock.unlock();
        one.work();
        lock.lock();
        at_work_.erase(one.sender);
        lock.unlock();
        changed_.notify_all();  // Another request of this sender may begin.
    }
}

}  // namespace pawl::page
