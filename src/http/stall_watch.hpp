#pragma once

// Internal to the listener, like connection.hpp.

#include "src/base/warning.hpp"

#include <boost/asio/io_context.hpp>    // tidy: allow header: for two files
#include <boost/asio/steady_timer.hpp>  // tidy: allow header: for two files

#include <chrono>
#include <optional>

namespace pawl::http {

// How long this thread ran, and how long it was ready to run but did not, by the scheduler.
struct ThreadTimes {
    std::chrono::nanoseconds on_cpu{};
    std::chrono::nanoseconds starved{};
};

// How long a thread was held, of the time that its timer fired too late by `late`: without the time
// in which it was ready to run and the machine was busy. Empty if it is at most
// StallWatch::stall_max.
std::optional<std::chrono::nanoseconds> stall_of(
    std::chrono::nanoseconds late, const ThreadTimes& meanwhile
);

// Reports handlers that hold an I/O thread: every connection of the thread waits for them. A timer
// that fires too late shows it (stall_of). Reports `io_thread_stalled`: how long the thread was
// held, how long it was on the CPU, and how long it starved besides. Used only in builds with fault
// points, and only on the thread of `io`.
class StallWatch {
public:
    StallWatch(boost::asio::io_context& io, base::OnWarning warning);
    void start();

    static constexpr std::chrono::milliseconds beat_every{10};
    static constexpr std::chrono::milliseconds stall_max{50};

private:
    void wait();
    void on_beat();

    boost::asio::steady_timer timer_;
    base::OnWarning warning_;
    ThreadTimes before_{};
};

}  // namespace pawl::http
