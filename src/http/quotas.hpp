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

// What each tenant has in hand and may still ask for, under one rule. Whoever is idle is forgotten,
// as that changes nothing for it; more tenants than there is room for share one place. Thread-safe:
// a lock is held for the look-up of one of `parts`, and another tenant seldom has the same.
class Quotas {
    struct Part;
    struct Tenant;

public:
    // Of all parts together, about a hundred bytes each. So many that are not idle in the same
    // second are more than one server serves.
    static constexpr std::size_t tenants_max = 16'384;

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
        Place(Part& part, Tenant& tenant) : part_{&part}, tenant_{&tenant} {}
        Part* part_{};
        Tenant* tenant_{};  // Stays where it is while it has something in hand.
    };
    struct Refused {
        core::OverQuota why;
        // How many were refused to this tenant since its operator was told; 0: it is too early to
        // tell again.
        std::uint64_t tell{};
    };
    std::variant<Place, Refused> enter(const std::string& tenant, core::SteadyTime now);

    std::size_t remembered() const;

private:
    struct Tenant {
        core::TenantUse use{};
        std::uint64_t refused{};  // Since the last time that it was told.
        core::SteadyTime tell_at{};
    };
    struct Part {
        mutable std::mutex mutex;
        std::unordered_map<std::string, Tenant> tenants;
        Tenant others;  // Of all for whom there was no room, together.
        core::SteadyTime forget_at{};
    };
    Tenant& tenant_of(Part& part, const std::string& tenant, core::SteadyTime now) const;

    const core::QuotaRule rule_;
    const std::size_t of_each_part_;
    std::array<Part, 16> parts_;
};

}  // namespace pawl::http
