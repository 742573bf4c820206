#include "apps/rides/pages/sign_in_tries.hpp"

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <array>
#include <chrono>

namespace rides {

namespace {

using namespace std::chrono_literals;

constexpr auto each = 60s / SignInTries::wrong_max;  // So often one more try comes back.

// The prefixes keep an account and an address of the same name apart.
std::array<std::string, 2> names_of(const SignInTries::Who& who) {
    return {"address " + network_of(who.address), "account " + who.account};
}

}  // namespace

std::optional<std::chrono::seconds> SignInTries::begin(const Who& who, SteadyTime now) {
    const std::lock_guard lock{mutex_};
    const auto names = names_of(who);
    for (const auto& name : names) {
        const auto wait = full_at(name, now) + each - wrong_max * each - now;
        if (wait > 0s) return std::chrono::ceil<std::chrono::seconds>(wait);
    }
    for (const auto& name : names) {
        auto& at = full_at(name, now);
        at = std::max(at, now) + each;
    }
    return std::nullopt;
}

void SignInTries::right_token(const Who& who) {
    const std::lock_guard lock{mutex_};
    for (const auto& name : names_of(who)) {
        const auto at = full_at_.find(name);
        (at != full_at_.end() ? at->second : others_) -= each;
    }
}

std::size_t SignInTries::remembered() const {
    const std::lock_guard lock{mutex_};
    return full_at_.size();
}

SignInTries::SteadyTime& SignInTries::full_at(const std::string& name, SteadyTime now) {
    if (const auto at = full_at_.find(name); at != full_at_.end()) return at->second;
    if (now >= forget_at_) {
        forget_at_ = now + 1s;
        std::erase_if(full_at_, [now](const auto& one) { return one.second <= now; });
    }
    if (full_at_.size() >= remembered_max_) return others_;
    return full_at_[name];
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
