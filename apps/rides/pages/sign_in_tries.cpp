#include "apps/rides/pages/sign_in_tries.hpp"

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <variant>

namespace rides {

namespace {

using namespace std::chrono_literals;
using pawl::core::SteadyTime;
using pawl::core::TenantUse;

constexpr pawl::core::QuotaRule rule{
    .token_each = 60s / SignInTries::wrong_max, .burst = SignInTries::wrong_max};

// The prefixes keep an account and an address of the same name apart.
std::array<std::string, 2> names_of(const SignInTries::Who& who) {
    return {"address " + network_of(who.address), "account " + who.account};
}

}  // namespace

std::optional<std::chrono::seconds> SignInTries::begin(const Who& who, SteadyTime now) {
    const std::lock_guard lock{mutex_};
    const auto names = names_of(who);
    std::array<TenantUse, 2> after{};
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto admission = pawl::core::decide_admission(rule, use_of(names.at(i), now), 0, now);
        if (const auto* over = std::get_if<pawl::core::OverQuota>(&admission))
            return over->retry_after;
        after.at(i) = std::get<TenantUse>(admission);
        after.at(i).in_hand = 0;
    }
    for (std::size_t i = 0; i < names.size(); ++i) use_of(names.at(i), now) = after.at(i);
    return std::nullopt;
}

void SignInTries::right_token(const Who& who) {
    const std::lock_guard lock{mutex_};
    for (const auto& name : names_of(who)) {
        const auto at = uses_.find(name);
        auto& use = at != uses_.end() ? at->second : others_;
        use.full_at -= rule.token_each;
    }
}

std::size_t SignInTries::remembered() const {
    const std::lock_guard lock{mutex_};
    return uses_.size();
}

TenantUse& SignInTries::use_of(const std::string& name, SteadyTime now) {
    if (const auto at = uses_.find(name); at != uses_.end()) return at->second;
    if (now >= forget_at_) {
        forget_at_ = now + 1s;
        std::erase_if(uses_, [now](const auto& one) {
            return pawl::core::is_forgettable(one.second, now);
        });
    }
    if (uses_.size() >= remembered_max_) return others_;
    return uses_[name];
}

std::string network_of(const std::string& address) {
    boost::system::error_code error;
    const auto parsed = boost::asio::ip::make_address(address, error);
    if (error || !parsed.is_v6()) return address;
    const auto v6 = parsed.to_v6();
    if (v6.is_v4_mapped())
        return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, v6).to_string();
    auto bytes = v6.to_bytes();
    std::fill(bytes.begin() + 8, bytes.end(), static_cast<unsigned char>(0));
    return boost::asio::ip::address_v6{bytes}.to_string() + "/64";
}

}  // namespace rides
