#pragma once

// Internal to the listener, like connection.hpp.

#include "src/http/connection.hpp"
#include "src/http/stall_watch.hpp"

#include <boost/asio/steady_timer.hpp>  // tidy: allow header: for two files

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>

namespace pawl::http {

// One I/O thread and its connections: no other thread touches them.
class IoThread {
public:
    // `on_closed` is called for each connection that ended, on the io_thread's thread, unless the
    // io_thread is stopping.
    IoThread(
        const ListenerOptions& options,
        const Listener::Handlers& handlers,
        std::shared_ptr<BodyBudget> bodies,  // Shared by all io_threads.
        std::function<void(AddressPrefix)> on_closed
    );
    ~IoThread();

    void start();
    asio::io_context& io() { return io_; }
    // Serves the connection; from any thread. The socket was accepted for io().
    void add(tcp::socket socket, AddressPrefix address);
    // When the connection of this kind that has waited longest began to wait; from any thread.
    std::int64_t longest_since(EvictionClass kind) const {
        return shared_->waiting.longest_since(kind);
    }
    // Closes that connection; if it is gone, calls `if_none` on the io_thread's thread. From any
    // thread.
    void close_longest(EvictionClass kind, std::function<void()> if_none);
    // Lets requests in flight be answered for at most `drain`, then closes all; from any thread.
    void stop(std::chrono::milliseconds drain);
    // After stop(): returns whether the thread has ended by `until`. Only a handler that does not
    // return can keep it from ending.
    bool ends_until(SteadyTime until);
    // After stop(): waits without a limit; the io_thread can't be used afterwards.
    void join();

private:
    void sweep();
    void finish_stop();

    asio::io_context io_{1};
    std::shared_ptr<Shared> shared_;
    asio::steady_timer sweep_timer_;  // Always set: io_ has work until it is stopped.
    std::optional<asio::steady_timer> stop_timer_;
    std::optional<StallWatch> stall_watch_;
    std::promise<void> ended_;
    std::thread thread_;
};

}  // namespace pawl::http
