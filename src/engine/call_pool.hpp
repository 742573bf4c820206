#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <stop_token>
#include <thread>

namespace pawl::engine {

// Where foreign calls run. A simulator brings its own.
class Calls {
public:
    virtual ~Calls() = default;
    // False: there is no thread and none can be made; `f` will not run.
    [[nodiscard]] virtual bool post(std::function<void()> f) = 0;
    // As many calls wait as there may be threads: no new request should be begun.
    virtual bool is_full() = 0;
    // Calls see this as Call::stop().
    std::stop_token stop_token() const { return stop_.get_token(); }
    void request_stop() { stop_.request_stop(); }

private:
    std::stop_source stop_;
};

// The threads on which foreign calls run: they look blocking, so each call in hand holds one thread
// and no connection. Made when needed, up to a bound; more calls wait in a line. Threads that
// nobody needs end by themselves.
class CallPool final : public Calls {
public:
    // Throws std::system_error when there can be no more threads.
    using MakeThread = std::function<std::thread(std::function<void()>)>;
    explicit CallPool(int threads_max, MakeThread make_thread = {});
    ~CallPool() override;

    [[nodiscard]] bool post(std::function<void()> f) override;
    bool is_full() override;

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
    std::list<std::thread> ended_;  // Left their loop, to be joined.
    int idle_{0};
    bool closing_{false};
};

}  // namespace pawl::engine
