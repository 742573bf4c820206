#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace pawl::page {

// A few threads that answer requests, with a short queue. The destructor waits for those that are
// being answered, and drops the others.
class Threads {
public:
    Threads(int count, std::size_t waiting_max);

    bool add(std::function<void()> work);  // False: too many wait.

private:
    void run(const std::stop_token& stop);

    std::size_t waiting_max_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<std::function<void()>> waiting_;
    std::vector<std::jthread> threads_;
};

}  // namespace pawl::page
