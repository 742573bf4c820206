#pragma once

#include "src/core/quota.hpp"

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
    static constexpr int wrong_max = 10;  // At once, and in each minute.
    static constexpr std::size_t remembered_max = 8'192;

    explicit SignInTries(std::size_t remembered = remembered_max) : remembered_max_{remembered} {}

    struct Who {
        std::string address;
        std::string account;
    };
    // Counts a try before its token is compared, so that tries at the same time count too. How long
    // to wait if there were too many; nullopt: compare, and then call right_token() if it is right.
    std::optional<std::chrono::seconds> begin(const Who& who, pawl::core::SteadyTime now);
    void right_token(const Who& who);  // Takes back what begin() has counted.

    std::size_t remembered() const;

private:
    using Uses = std::unordered_map<std::string, pawl::core::TenantUse>;
    pawl::core::TenantUse& use_of(const std::string& name, pawl::core::SteadyTime now);

    const std::size_t remembered_max_;
    mutable std::mutex mutex_;
    Uses uses_;
    pawl::core::TenantUse others_;
    pawl::core::SteadyTime forget_at_{};
};

// What counts as one client: an IPv4 address, or the first 64 bits of an IPv6 one, which is what
// one household or server has.
std::string network_of(const std::string& address);

}  // namespace rides
