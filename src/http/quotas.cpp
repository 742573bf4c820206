#include "src/http/quotas.hpp"

#include "src/core/assert.hpp"

#include <algorithm>
#include <functional>

namespace pawl::http {

using namespace std::chrono_literals;

namespace {

// A flood is logged at once, and then once a minute.
constexpr auto report_every = 1min;
// A scan of a part's tenants, a thousand at most.
constexpr auto forget_every = 1s;

}  // namespace

Quotas::Quotas(core::QuotaRule rule, std::size_t remembered_max)
    : rule_{rule},
      of_each_part_{
          std::max<std::size_t>(remembered_max / std::tuple_size_v<decltype(parts_)>, 1)} {}

std::variant<Quotas::Place, Quotas::Rejection> Quotas::enter(
    const std::string& tenant, const std::string& account, core::SteadyTime now
) {
    auto& part = parts_.at(std::hash<std::string>{}(tenant) % parts_.size());
    const std::lock_guard lock{part.mutex};
    auto& found = tenant_of(part, tenant, now);
    auto* asker = account_of(found, account);
    const auto admission =
        core::decide_admission(rule_, found.use, asker != nullptr ? asker->in_flight : 0, now);
    if (const auto* after = std::get_if<core::TenantUse>(&admission)) {
        found.use = *after;
        if (asker != nullptr) ++asker->in_flight;
        return Place{part, found, asker};
    }
    const auto& why = std::get<core::OverQuota>(admission);
    const bool by_account = why.limit == core::OverQuota::Limit::account_in_flight;
    auto refused = (by_account ? asker->refusals : found.refusals).add(why, now);
    if (asker != nullptr) forget(found, *asker);
    return refused;
}

Quotas::Rejection Quotas::Refusals::add(const core::OverQuota& why, core::SteadyTime now) {
    Rejection refused{why, 0};
    ++count;
    if (log_at > now) return refused;
    refused.refused_since_log = std::exchange(count, 0);
    log_at = now + report_every;
    return refused;
}

Quotas::Account* Quotas::account_of(Tenant& tenant, const std::string& account) const {
    if (rule_.account_in_flight_max == 0 || account.empty()) return nullptr;
    const auto at = tenant.accounts.find(account);
    if (at != tenant.accounts.end()) return &at->second;
    if (tenant.accounts.size() >= accounts_max) return &tenant.other_accounts;
    const auto made = tenant.accounts.try_emplace(account).first;
    made->second.name = &made->first;
    return &made->second;
}

// Most accounts have one request at a time: they are removed when it ends, without a scan.
void Quotas::forget(Tenant& tenant, const Account& account) {
    if (account.name == nullptr || !account.forgettable({})) return;
    tenant.accounts.erase(tenant.accounts.find(*account.name));
}

Quotas::Tenant& Quotas::tenant_of(Part& part, const std::string& tenant, core::SteadyTime now)
    const {
    if (now >= part.forget_at) {
        part.forget_at = now + forget_every;
        forget_idle(part, now);
    }
    const auto at = part.tenants.find(tenant);
    if (at != part.tenants.end()) return at->second;
    if (part.tenants.size() >= of_each_part_) return part.others;
    return part.tenants[tenant];
}

void Quotas::forget_idle(Part& part, core::SteadyTime now) {
    const auto forget_accounts = [now](Tenant& tenant) {
        std::erase_if(tenant.accounts, [now](const auto& each) {
            return each.second.forgettable(now);
        });
    };
    forget_accounts(part.others);
    for (auto& [name, tenant] : part.tenants) forget_accounts(tenant);
    std::erase_if(part.tenants, [now](const auto& one) {
        const auto& tenant = one.second;
        return core::is_forgettable(tenant.use, now) && tenant.refusals.log_at <= now &&
               tenant.accounts.empty() && tenant.other_accounts.forgettable(now);
    });
}

std::size_t Quotas::remembered_accounts() const {
    std::size_t sum = 0;
    for (const auto& part : parts_) {
        const std::lock_guard lock{part.mutex};
        for (const auto& [name, tenant] : part.tenants) sum += tenant.accounts.size();
        sum += part.others.accounts.size();
    }
    return sum;
}

std::size_t Quotas::remembered() const {
    std::size_t sum = 0;
    for (const auto& part : parts_) {
        const std::lock_guard lock{part.mutex};
        sum += part.tenants.size();
    }
    return sum;
}

void Quotas::Place::leave() noexcept {
    auto* part = std::exchange(part_, nullptr);
    if (part == nullptr) return;
    const std::lock_guard lock{part->mutex};
    PAWL_ASSERT(tenant_->use.in_flight > 0);
    --tenant_->use.in_flight;
    if (account_ == nullptr) return;
    PAWL_ASSERT(account_->in_flight > 0);
    --account_->in_flight;
    forget(*tenant_, *account_);
}

}  // namespace pawl::http
