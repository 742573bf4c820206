#pragma once

#include "src/core/breaker.hpp"
#include "src/core/retry_budget.hpp"

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>

namespace pawl::client {

// What a client knows of each server that it asks: its budget of repeats, and its breaker. A server
// is its scheme, host and port. Thread-safe.
class Servers {
public:
    Servers(core::BudgetRule budget, core::BreakerRule breaker);

    struct Pass {
        std::optional<core::SteadyTime> probe_since;  // It is the breaker's probe.
    };
    // A try may go now, or come back later.
    std::variant<Pass, core::ComeBack> pass(const std::string& server, core::SteadyTime now);
    // What a try that had passed said of the server; nothing, where it was stopped or never sent.
    enum class Said { well, failing, nothing };
    void ended(const std::string& server, Said said, Pass pass, core::SteadyTime now, double dice);
    // How long a repeat has to wait for its token; nothing: longer than `wait_max`.
    std::optional<std::chrono::milliseconds> repeat(
        const std::string& server, core::SteadyTime now, std::chrono::milliseconds wait_max
    );

    // Beyond it those are forgotten that are as good as never seen, and then any.
    static constexpr std::size_t known_max = 10'000;

private:
    struct Known {
        core::RetryBudget budget;
        core::Breaker breaker;
    };
    Known& known(const std::string& server, core::SteadyTime now);

    const core::BudgetRule budget_;
    const core::BreakerRule breaker_;
    std::mutex mutex_;
    std::unordered_map<std::string, Known> known_;
};

// "https://api.example.com:443" of a URL, in lower case; what is no URL of http is its own.
std::string server_of(std::string_view url);

}  // namespace pawl::client
