#include "src/client/servers.hpp"

#include "src/core/ascii.hpp"

#include <algorithm>
#include <stdexcept>

namespace pawl::client {

Servers::Servers(core::BudgetRule budget, core::BreakerRule breaker)
    : budget_{budget}, breaker_{breaker} {
    if (auto why = budget_.problem()) throw std::invalid_argument{"pawl: budget." + *why};
    if (auto why = breaker_.problem()) throw std::invalid_argument{"pawl: breaker." + *why};
}

Servers::Known& Servers::known(const std::string& server, core::SteadyTime now) {
    if (known_.size() >= known_max && !known_.contains(server)) {
        std::erase_if(known_, [&](const auto& each) {
            return !each.second.breaker.is_open() && each.second.budget.full_at <= now;
        });
        if (known_.size() >= known_max) known_.erase(known_.begin());
    }
    return known_[server];
}

std::variant<Servers::Pass, core::WaitForBreaker> Servers::pass(
    const std::string& server, core::SteadyTime now
) {
    const std::lock_guard lock{mutex_};
    auto& breaker = known(server, now).breaker;
    const auto way = core::decide_pass(breaker_, breaker, now);
    if (const auto* later = std::get_if<core::WaitForBreaker>(&way)) return *later;
    breaker = std::get<core::Breaker>(way);
    return Pass{breaker.probe_since};
}

void Servers::ended(
    const std::string& server, Said said, Pass pass, core::SteadyTime now, double dice
) {
    const std::lock_guard lock{mutex_};
    auto& state = known(server, now);
    // A probe that took too long no longer counts: another may be in flight.
    const bool probe = pass.probe_since && pass.probe_since == state.breaker.probe_since;
    switch (said) {
        case Said::nothing:
            if (probe) state.breaker.probe_since.reset();  // The next one may probe.
            return;
        case Said::failing:
            state.breaker = core::after_failure(breaker_, state.breaker, probe, now, dice);
            return;
        case Said::well:
            break;
    }
    state.breaker = {};
    state.budget = core::after_success(budget_, state.budget, now);
}

std::optional<std::chrono::milliseconds> Servers::repeat(
    const std::string& server, core::SteadyTime now, std::chrono::milliseconds wait_max
) {
    const std::lock_guard lock{mutex_};
    auto& budget = known(server, now).budget;
    const auto taken = core::withdraw(budget_, budget, now, wait_max);
    if (!taken) return std::nullopt;
    budget = taken->left;
    return taken->wait;
}

std::string server_of(std::string_view url) {
    const auto behind = url.find("://");
    if (behind == url.npos) return std::string{url};
    const auto end = std::min(url.find_first_of("/?#", behind + 3), url.size());
    const auto at = url.substr(0, end).rfind('@');
    const auto from = at != url.npos && at > behind ? at + 1 : behind + 3;
    std::string server{url.substr(0, behind + 3)};
    server += url.substr(from, end - from);
    std::transform(server.begin(), server.end(), server.begin(), core::lower);
    const auto host = server.substr(behind + 3);
    const auto colon = host.rfind(':');
    const bool has_port = colon != host.npos && host.find(']', colon) == host.npos;
    if (has_port) return server;
    return server + (server.starts_with("https:") ? ":443" : ":80");
}

}  // namespace pawl::client
