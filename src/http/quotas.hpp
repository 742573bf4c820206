#pragma once

#include "src/core/quota.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>

namespace pawl::http {

// How many requests each tenant and each of its accounts has in flight, and at which rate the
// tenant may send more. Idle tenants are forgotten, which changes nothing for them; tenants beyond
// `tenants_max` share one entry, and so do accounts beyond their limit. Thread-safe: the lock of
// one of `parts` is held for a lookup, and two tenants seldom share a part.
class Quotas {
    struct Part;
    struct Tenant;
    struct Account;

public:
    // For all parts together, about a hundred bytes each. One server never serves so many that are
    // not idle in the same second.
    static constexpr std::size_t tenants_max = 16'384;
    // Per tenant. Only accounts with requests in flight, and those that were refused within a
    // minute, are kept.
    static constexpr std::size_t accounts_max = 2'048;

    explicit Quotas(core::QuotaRule rule, std::size_t remembered_max = tenants_max);
    Quotas(const Quotas&) = delete;
    Quotas& operator=(const Quotas&) = delete;

    // One admitted request, until it is answered. The quotas outlive it.
    class Place {
    public:
        Place() = default;
        Place(Place&& other) noexcept { *this = std::move(other); }
        Place& operator=(Place&& other) noexcept {
            std::swap(part_, other.part_);
            std::swap(tenant_, other.tenant_);
            std::swap(account_, other.account_);
            return *this;
        }
        ~Place() { leave(); }
        void leave() noexcept;  // A second call has no effect.

    private:
        friend Quotas;
        Place(Part& part, Tenant& tenant, Account* account)
            : part_{&part}, tenant_{&tenant}, account_{account} {}
        Part* part_{};
        Tenant* tenant_{};    // Does not move while it has requests in flight.
        Account* account_{};  // The same; nullptr: accounts are not counted.
    };
    struct Rejection {
        core::OverQuota why;
        // How many requests of this tenant, or of this account by its own limit, were refused since
        // the last line in the log; 0: it is too early for another line.
        std::uint64_t refused_since_log{};
    };
    // With an empty account, only the tenant is counted.
    std::variant<Place, Rejection> enter(
        const std::string& tenant, const std::string& account, core::SteadyTime now
    );

    std::size_t remembered() const;           // Number of tenants.
    std::size_t remembered_accounts() const;  // Of all tenants together.

private:
    struct Refusals {
        std::uint64_t count{};  // Since the last line in the log.
        core::SteadyTime log_at{};
        Rejection add(const core::OverQuota& why, core::SteadyTime now);
    };
    struct Account {
        int in_flight{};
        Refusals refusals{};
        // Its name in Tenant::accounts; nullptr: the shared entry of accounts beyond the limit.
        const std::string* name{};
        bool forgettable(core::SteadyTime now) const {
            return in_flight == 0 && refusals.log_at <= now;
        }
    };
    struct Tenant {
        core::TenantUse use{};
        Refusals refusals{};
        std::unordered_map<std::string, Account> accounts;
        Account other_accounts;
    };
    struct Part {
        mutable std::mutex mutex;
        std::unordered_map<std::string, Tenant> tenants;
        Tenant others;  // The shared entry of all tenants beyond the limit.
        core::SteadyTime forget_at{};
    };
    Tenant& tenant_of(Part& part, const std::string& tenant, core::SteadyTime now) const;
    static void forget_idle(Part& part, core::SteadyTime now);
    static void forget(Tenant& tenant, const Account& account);
    Account* account_of(Tenant& tenant, const std::string& account) const;

    const core::QuotaRule rule_;
    const std::size_t of_each_part_;
    std::array<Part, 16> parts_;
};

}  // namespace pawl::http
