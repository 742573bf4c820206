#include "src/core/fault.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace pawl::core {

namespace {

struct Plan {
    std::string name;
    long hit{};
    int signal{};
    int log{-1};
};

Plan read_plan() {
    Plan plan;
    if (const char* log = std::getenv("PAWL_FAULT_LOG"))
        plan.log = ::open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    const char* at = std::getenv("PAWL_FAULT_AT");
    if (at == nullptr) return plan;
    std::string_view text{at};
    const auto second = text.rfind(':');
    const auto first = text.rfind(':', second - 1);
    if (second == text.npos || first == text.npos) return plan;
    const auto kind = text.substr(second + 1);
    if (kind != "kill9" && kind != "stop") return plan;
    plan.name = text.substr(0, first);
    plan.signal = kind == "kill9" ? SIGKILL : SIGSTOP;
    std::from_chars(text.data() + first + 1, text.data() + second, plan.hit);
    return plan;
}

const Plan& plan() {
    static const Plan made = read_plan();
    return made;
}

using OnFaultPoint = std::function<void(std::string_view)>;

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): set by tests.
std::atomic<bool> watched{false};
std::mutex told_mutex;
std::shared_ptr<const OnFaultPoint> on_fault_point_now;  // Shared with threads that are calling it.
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

void tell(const char* name) {
    std::unique_lock lock{told_mutex};
    const auto on_reached = on_fault_point_now;
    lock.unlock();
    if (on_reached) (*on_reached)(name);
}

}  // namespace

void on_fault_point(std::function<void(std::string_view)> on_reached) {
    const std::lock_guard lock{told_mutex};
    on_fault_point_now =
        on_reached ? std::make_shared<const OnFaultPoint>(std::move(on_reached)) : nullptr;
    watched = on_fault_point_now != nullptr;
}

void fault_point(const char* name) {
    if (watched) tell(name);
    const Plan& planned = plan();
    if (planned.log >= 0) {
        const std::string line = std::string{name} + "\n";
        [[maybe_unused]] const auto written = ::write(planned.log, line.data(), line.size());
    }
    if (planned.name.empty() || planned.name != name) return;
    static std::atomic<long> hits{0};
    // raise(), which the calling thread takes before it returns: after a kill() of the process it
    // may go on until another thread has taken the stop.
    if (++hits == planned.hit) std::raise(planned.signal);
}

}  // namespace pawl::core
