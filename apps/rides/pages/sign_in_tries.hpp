#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace rides {

// How often an address, or an account, may sign in with a wrong token: ten times a minute, then it
// has to wait, with a right token too. Idle ones are forgotten; those for whom there is no room
// share one place. Thread-safe.
class SignInTries {
public:
    using SteadyTime = std::chrono::steady_clock::time_point;
    static constexpr int wrong_max = 10;  // At once, and in each minute.
    static constexpr std::size_t remembered_max = 8'192;

    explicit SignInTries(std::size_t remembered = remembered_max) : remembered_max_{remembered} {}

    struct Who {
        std::string address;
        std::string account;
    };
    // Counts a try before its token is compared, so that tries at the same time count too. How long
    // to wait if there were too many; nullopt: compare, and then call right_token() if it is right.
    std::optional<std::chrono::seconds> begin(const Who& who, SteadyTime now);
    void right_token(const Who& who);  // Takes back what begin() has counted.

    std::size_t remembered() const;

private:
    // When all tries of a name are there again: each moves it on by the time of one try (GCRA).
    SteadyTime& full_at(const std::string& name, SteadyTime now);

    const std::size_t remembered_max_;
    mutable std::mutex mutex_;
    std::unordered_map<std::string, SteadyTime> full_at_;
    SteadyTime others_{};
    SteadyTime forget_at_{};
};

// What counts as one client: an IPv4 address, or the first 64 bits of an IPv6 one, which is what
// one household or server has.
std::string network_of(const std::string& address);

}  // namespace rides
