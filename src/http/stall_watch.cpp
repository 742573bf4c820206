#include "src/http/stall_watch.hpp"

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>

namespace pawl::http {

namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

// Zeros if the kernel keeps no such numbers: then starving counts as a stall.
ThreadTimes times_of_this_thread() {
    std::ifstream file{"/proc/thread-self/schedstat"};
    std::int64_t on_cpu = 0;
    std::int64_t starved = 0;
    file >> on_cpu >> starved;
    return {std::chrono::nanoseconds{on_cpu}, std::chrono::nanoseconds{starved}};
}

std::string ms_text(std::chrono::nanoseconds time) {
    return std::to_string(duration_cast<milliseconds>(time).count());
}

}  // namespace

std::optional<std::chrono::nanoseconds> stall_of(
    std::chrono::nanoseconds late, const ThreadTimes& meanwhile
) {
    const auto held = late - meanwhile.starved;
    return held > StallWatch::stall_max ? std::optional{held} : std::nullopt;
}

StallWatch::StallWatch(boost::asio::io_context& io, base::OnWarning warning)
    : timer_{io}, warning_{std::move(warning)} {}

void StallWatch::start() {
    before_ = times_of_this_thread();
    wait();
}

void StallWatch::wait() {
    timer_.expires_after(beat_every);
    timer_.async_wait([this](boost::system::error_code cancelled) {
        if (!cancelled) on_beat();
    });
}

void StallWatch::on_beat() {
    const auto now =
        std::chrono::steady_clock::now();  // tidy: allow clock: of the test's own watch
    const auto times = times_of_this_thread();
    const ThreadTimes meanwhile{
        .on_cpu = times.on_cpu - before_.on_cpu, .starved = times.starved - before_.starved};
    if (const auto held = stall_of(now - timer_.expiry(), meanwhile))
        warning_(
            {.event = "io_thread_stalled",
             .code = {},
             .detail = "held " + ms_text(*held) + " ms, on the CPU " + ms_text(meanwhile.on_cpu) +
                       " ms, starved " + ms_text(meanwhile.starved) + " ms"}
        );
    before_ = times;
    wait();
}

}  // namespace pawl::http
