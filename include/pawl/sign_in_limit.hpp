#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>

namespace pawl {

// Against guessing of tokens: an account may be tried from one network (an IPv4 address, or the
// first 64 bits of an IPv6 address) with ten wrong tokens at once, and then with one in six
// seconds. Other accounts and other networks are not affected, and a token that was right from this
// network before is never refused, so nobody locks a user out by guessing. Beyond the limit only
// such tokens are compared. Thread-safe; uses 2 MB, however many tries there are.
//
//   const SignInLimit::Try attempt{head.client_address, email, token};
//   if (const auto wait = limit.begin(attempt, now)) return too_many_requests(*wait);
//   if (!matches(email, token)) return limit.wrong(attempt), unauthorized();
//   limit.right(attempt);
class SignInLimit {
public:
    using SteadyTime = std::chrono::steady_clock::time_point;
    static constexpr int wrong_max = 10;  // At once, and in each minute.

    struct Try {
        std::string_view address;  // RequestHead::client_address.
        std::string_view account;  // Empty if the token alone says who it is.
        std::string_view token;
    };

    SignInLimit();
    ~SignInLimit();

    // Counts the try before its token is compared, so that simultaneous tries count, too. Returns
    // how long to wait (429, Retry-After) if there were too many. nullopt: compare the token, and
    // call one of the others.
    std::optional<std::chrono::seconds> begin(const Try& attempt, SteadyTime now);
    void right(const Try& attempt);  // Undoes the count.
    void wrong(const Try& attempt);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl
