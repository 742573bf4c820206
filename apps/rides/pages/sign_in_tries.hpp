#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace rides {

// Limits wrong tokens per address and per account: after ten a minute it must wait, even with a
// right token. Idle entries are removed; when there is no room, the others share one. Thread-safe.
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
    // Counts a try before its token is compared, so that simultaneous tries count, too. Returns the
    // wait if there were too many; nullopt: compare, then call right_token() for a right one.
    std::optional<std::chrono::seconds> begin(const Who& who, SteadyTime now);
    void right_token(const Who& who);  // Undoes the count of begin().

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

// The network that counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address,
// which belong to one household or server.
std::string network_of(const std::string& address);

}  // namespace rides
