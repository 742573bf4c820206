#include <pawl/sign_in_limit.hpp>

#include "src/base/random.hpp"
#include "src/core/quota.hpp"
#include "src/http/address_prefix.hpp"
#include "src/json/hash.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

namespace pawl {

namespace {

constexpr core::QuotaRule rule{
    .token_each = std::chrono::seconds{60} / SignInLimit::wrong_max,
    .burst = SignInLimit::wrong_max};

// Tables of a fixed size, so that no number of tries uses memory or makes others forgotten. Two
// pairs of a network and an account may share a place by chance. Each place recovers a sixth of a
// try a second: to use them all up takes 21,000 wrong tokens a second.
constexpr std::size_t pairs_max = std::size_t{1} << 17U;
constexpr std::size_t known_max = std::size_t{1} << 17U;

}  // namespace

struct SignInLimit::Impl {
    // By a secret, so that nobody can choose accounts that share another one's place.
    std::uint64_t number(json::Parts parts) const {
        const auto digest = json::hmac_sha256(secret, std::move(parts).bytes());
        std::uint64_t number = 0;
        for (std::size_t i = 0; i < sizeof number; ++i) number = number << 8U | digest.at(i);
        return number;
    }
    static json::Parts parts_of_pair(const Try& attempt) {
        json::Parts parts;
        parts.add(static_cast<std::uint64_t>(http::address_prefix(attempt.address)));
        parts.add(attempt.account);
        return parts;
    }
    SteadyTime& full_at_of(const Try& attempt) {
        return full_at[number(parts_of_pair(attempt)) % pairs_max];
    }
    std::uint64_t mark_of(const Try& attempt) const {
        auto parts = parts_of_pair(attempt);
        parts.add(attempt.token);
        return number(std::move(parts));
    }

    const std::string secret{base::random_hex(base::system_random(), 64)};
    std::mutex mutex;
    std::vector<SteadyTime> full_at = std::vector<SteadyTime>(pairs_max);
    std::vector<std::uint64_t> known = std::vector<std::uint64_t>(known_max);  // Right ones.
};

SignInLimit::SignInLimit() : impl_{std::make_unique<Impl>()} {}
SignInLimit::~SignInLimit() = default;

std::optional<std::chrono::seconds> SignInLimit::begin(const Try& attempt, SteadyTime now) {
    const auto mark = impl_->mark_of(attempt);
    auto& full_at = impl_->full_at_of(attempt);
    const std::lock_guard lock{impl_->mutex};
    if (impl_->known[mark % known_max] == mark) return std::nullopt;
    const auto decided = core::decide_admission(rule, {0, full_at}, 0, now);
    if (const auto* refused = std::get_if<core::OverQuota>(&decided)) return refused->retry_after;
    full_at = std::get<core::TenantUse>(decided).full_at;
    return std::nullopt;
}

void SignInLimit::right(const Try& attempt) {
    const auto mark = impl_->mark_of(attempt);
    auto& full_at = impl_->full_at_of(attempt);
    const std::lock_guard lock{impl_->mutex};
    auto& known = impl_->known[mark % known_max];
    if (known == mark) return;  // It was not counted.
    known = mark;
    full_at -= rule.token_each;
}

// A token that was right and is not any more counts from its next try on.
void SignInLimit::wrong(const Try& attempt) {
    const auto mark = impl_->mark_of(attempt);
    const std::lock_guard lock{impl_->mutex};
    auto& known = impl_->known[mark % known_max];
    if (known == mark) known = 0;
}

}  // namespace pawl
