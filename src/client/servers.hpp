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

// The retry budget and the circuit breaker of each server that a client uses. A server is scheme,
// host and port. Thread-safe.
class Servers {
public:
    Servers(core::BudgetRule budget, core::BreakerRule breaker);

    struct Pass {
        std::optional<core::SteadyTime> probe_since;  // Set for the breaker's probe.
    };
    // Whether a try may go now, or when to come back.
    std::variant<Pass, core::WaitForBreaker> pass(const std::string& server, core::SteadyTime now);
    // What a passed try showed of the server; nothing: stopped or never sent.
    enum class Said { well, failing, nothing };
    void ended(const std::string& server, Said said, Pass pass, core::SteadyTime now, double dice);
    // How long a repeat has to wait for its token; nullopt: longer than `wait_max`.
    std::optional<std::chrono::milliseconds> repeat(
        const std::string& server, core::SteadyTime now, std::chrono::milliseconds wait_max
    );

    // Beyond this, servers without recent failures are forgotten, then any.
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

// "https://api.example.com:443" of a URL, in lower case; other texts stay unchanged.
std::string server_of(std::string_view url);

}  // namespace pawl::client
