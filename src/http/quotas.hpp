#pragma once

#include "src/core/quota.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

namespace pawl::http {

// What each tenant and each of its accounts has in hand, and what the tenant may still ask for,
// under one rule. Whoever is idle is forgotten, as that changes nothing for it; more tenants than
// there is room for share one place, and so do the accounts of one tenant. Thread-safe: a lock is
// held for the look-up of one of `parts`, and another tenant seldom has the same.
class Quotas {
    struct Part;
    struct Tenant;
    struct Account;

public:
    // Of all parts together, about a hundred bytes each. So many that are not idle in the same
    // second are more than one server serves.
    static constexpr std::size_t tenants_max = 16'384;
    // Of one tenant. Only accounts with requests in flight, and those that were refused within a
    // minute, are kept.
    static constexpr std::size_t accounts_max = 2'048;

    explicit Quotas(core::QuotaRule rule, std::size_t remembered_max = tenants_max);
    Quotas(const Quotas&) = delete;
    Quotas& operator=(const Quotas&) = delete;

    // A request that was let in, until it is answered. The quotas outlive it.
    class Place {
    public:
        Place() = default;
        Place(Place&& other) noexcept;
        Place& operator=(Place&& other) noexcept;
        ~Place() { leave(); }
        void leave() noexcept;  // Twice is once.

    private:
        friend Quotas;
        Place(Part& part, Tenant& tenant, Account* account)
            : part_{&part}, tenant_{&tenant}, account_{account} {}
        Part* part_{};
        Tenant* tenant_{};    // Stays where it is while it has something in hand.
        Account* account_{};  // Likewise; nullptr: accounts are not counted.
    };
    struct Refused {
        core::OverQuota why;
        // How many were refused to this tenant, or to this account by the limit of accounts, since
        // the log said so; 0: it is too early to say so again.
        std::uint64_t tell{};
    };
    // With an empty account only the tenant is counted.
    std::variant<Place, Refused> enter(
        const std::string& tenant, const std::string& account, core::SteadyTime now
    );

    std::size_t remembered() const;           // Tenants.
    std::size_t remembered_accounts() const;  // Of all tenants.

private:
    struct Refusals {
        std::uint64_t count{};  // Since the last line in the log.
        core::SteadyTime tell_at{};
        Refused add(const core::OverQuota& why, core::SteadyTime now);
    };
    struct Account {
        int in_hand{};
        Refusals refusals{};
        // Its name in Tenant::accounts; nullptr: the place that accounts without room share.
        const std::string* name{};
        bool forgettable(core::SteadyTime now) const {
            return in_hand == 0 && refusals.tell_at <= now;
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
        Tenant others;  // Of all for whom there was no room, together.
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
