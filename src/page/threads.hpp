#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace pawl::page {

// A few threads that answer requests, with a short queue. One sender has one thread at a time, and
// a share of the queue, so that slow requests of one operator leave room for the others. The
// destructor waits for those that are being answered, and drops the others.
class Threads {
public:
    struct Limits {
        int threads{};
        std::size_t waiting_max{};
        std::size_t of_sender_max{};  // Of those that wait.
    };
    explicit Threads(Limits limits);

    bool add(std::string sender, std::function<void()> work);  // False: too many wait.

private:
    struct Waiting {
        std::string sender;
        std::function<void()> work;
    };
    std::deque<Waiting>::iterator next();
    void run(const std::stop_token& stop);

    Limits limits_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<Waiting> waiting_;
    std::set<std::string> at_work_;
    std::vector<std::jthread> threads_;
};

}  // namespace pawl::page
