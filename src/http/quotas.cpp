#include "src/http/quotas.hpp"

#include "src/core/assert.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace pawl::http {

using namespace std::chrono_literals;

namespace {

// A flood is one line, and then one a minute.
constexpr auto tell_each = 1min;
// A walk over a part's tenants, of whom there are a thousand at most.
constexpr auto forget_each = 1s;

}  // namespace

Quotas::Quotas(core::QuotaRule rule, std::size_t remembered_max)
    : rule_{rule},
      of_each_part_{
          std::max<std::size_t>(remembered_max / std::tuple_size_v<decltype(parts_)>, 1)} {}

std::variant<Quotas::Place, Quotas::Refused> Quotas::enter(
    const std::string& tenant, core::SteadyTime now
) {
    auto& part = parts_.at(std::hash<std::string>{}(tenant) % parts_.size());
    const std::lock_guard lock{part.mutex};
    auto& found = tenant_of(part, tenant, now);
    const auto admission = core::decide_admission(rule_, found.use, now);
    if (const auto* after = std::get_if<core::TenantUse>(&admission)) {
        found.use = *after;
        return Place{part, found};
    }
    Refused refused{std::get<core::OverQuota>(admission), 0};
    ++found.refused;
    if (found.tell_at <= now) {
        refused.tell = std::exchange(found.refused, 0);
        found.tell_at = now + tell_each;
    }
    return refused;
}

Quotas::Tenant& Quotas::tenant_of(Part& part, const std::string& tenant, core::SteadyTime now)
    const {
    if (now >= part.forget_at) {
        part.forget_at = now + forget_each;
        std::erase_if(part.tenants, [now](const auto& one) {
            return core::is_forgettable(one.second.use, now) && one.second.tell_at <= now;
        });
    }
    const auto at = part.tenants.find(tenant);
    if (at != part.tenants.end()) return at->second;
    if (part.tenants.size() >= of_each_part_) return part.others;
    return part.tenants[tenant];
}

std::size_t Quotas::remembered() const {
    std::size_t sum = 0;
    for (const auto& part : parts_) {
        const std::lock_guard lock{part.mutex};
        sum += part.tenants.size();
    }
    return sum;
}

Quotas::Place::Place(Place&& other) noexcept
    : part_{std::exchange(other.part_, nullptr)}, tenant_{other.tenant_} {}

Quotas::Place& Quotas::Place::operator=(Place&& other) noexcept {
    if (this == &other) return *this;
    leave();
    part_ = std::exchange(other.part_, nullptr);
    tenant_ = other.tenant_;
    return *this;
}

void Quotas::Place::leave() noexcept {
    auto* part = std::exchange(part_, nullptr);
    if (part == nullptr) return;
    const std::lock_guard lock{part->mutex};
    PAWL_ASSERT(tenant_->use.in_hand > 0);
    --tenant_->use.in_hand;
}

}  // namespace pawl::http
