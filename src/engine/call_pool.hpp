#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <stop_token>
#include <thread>

namespace pawl::engine {

// Runs foreign calls. A simulator brings its own.
class Calls {
public:
    virtual ~Calls() = default;
    // False: no thread is free or can be made, and `f` will not run.
    [[nodiscard]] virtual bool post(std::function<void()> f) = 0;
    // As many calls wait as there may be threads: no new request should begin.
    virtual bool is_full() = 0;
    // Calls that run or wait for a thread.
    virtual int in_flight() { return 0; }
    // Calls read this as Call::stop().
    std::stop_token stop_token() const { return stop_.get_token(); }
    void request_stop() { stop_.request_stop(); }

private:
    std::stop_source stop_;
};

// The threads for foreign calls. Calls block, so each call in flight holds one thread but no
// database connection. Threads are made on demand up to a limit; idle ones end.
class CallPool final : public Calls {
public:
    // Throws std::system_error if no more threads can be made.
    using MakeThread = std::function<std::thread(std::function<void()>)>;
    explicit CallPool(int threads_max, MakeThread make_thread = {});
    ~CallPool() override;

    [[nodiscard]] bool post(std::function<void()> f) override;
    bool is_full() override;
    int in_flight() override;

private:
    void loop(std::list<std::thread>::iterator self);
    void join_ended();

    const int threads_max_;
    const MakeThread make_thread_;
    std::mutex mutex_;
    std::condition_variable posted_;
    std::condition_variable thread_left_;
    std::deque<std::function<void()>> line_;
    std::list<std::thread> threads_;
    std::list<std::thread> ended_;  // To be joined.
    int idle_{0};
    bool closing_{false};
};

}  // namespace pawl::engine
