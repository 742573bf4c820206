#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/locks/lease_table.hpp"
#include "src/locks/redis_lease_backend.hpp"
#include "src/locks/store_lease_backend.hpp"

#include <utility>

namespace pawl {

namespace {

using locks::LeaseTable;

constexpr std::chrono::milliseconds shortest_ttl = 100ms;
constexpr std::chrono::milliseconds longest_ttl = 1h;

std::shared_ptr<LeaseTable> table_of(
    std::unique_ptr<locks::LeaseBackend> backend, LeaseTable::Gives gives
) {
    return std::make_shared<LeaseTable>(
        std::move(backend), gives, base::system_clock(), base::system_random()
    );
}

}  // namespace

std::optional<std::string> LeaseOptions::problem() const {
    if (ttl >= shortest_ttl && ttl <= longest_ttl) return std::nullopt;
    return "ttl is " + std::to_string(ttl.count()) +
           " ms: " + std::to_string(shortest_ttl.count()) + " ms to " +
           std::to_string(longest_ttl.count()) + " ms; others wait this long for a dead holder";
}

HeldLease::HeldLease(std::shared_ptr<LeaseTable> table, std::shared_ptr<locks::Held> held)
    : table_{std::move(table)}, held_{std::move(held)} {}

HeldLease::HeldLease(HeldLease&& other) noexcept = default;

HeldLease& HeldLease::operator=(HeldLease&& other) noexcept {
    if (this == &other) return *this;
    release();
    table_ = std::move(other.table_);
    held_ = std::move(other.held_);
    return *this;
}

HeldLease::~HeldLease() {
    release();
}

const std::string& HeldLease::name() const {
    static const std::string none;
    return held_ ? held_->name : none;
}

std::int64_t HeldLease::epoch() const {
    return held_ ? held_->epoch : 0;
}

bool HeldLease::is_held() const noexcept {
    return held_ && table_->is_held(*held_);
}

std::stop_token HeldLease::lost() const {
    return held_ ? held_->lost.get_token() : std::stop_token{};
}

bool HeldLease::release() noexcept {
    return held_ && table_->release(*held_);
}

Leases::Leases(std::shared_ptr<LeaseTable> table) : table_{std::move(table)} {}

Leases::Leases(Database& database)
    : table_{table_of(locks::store_lease_backend(database.store()), LeaseTable::Gives::tokens)} {}

Leases Leases::in_redis(const std::string& url) {
    Leases leases{table_of(locks::redis_lease_backend(url), LeaseTable::Gives::tokens)};
    leases.table_->check_gives_tokens();
    return leases;
}

std::optional<Lease> Leases::try_acquire(std::string_view name, const LeaseOptions& options) {
    auto held = table_->try_acquire(name, options);
    if (!held) return std::nullopt;
    return Lease{table_, std::move(held)};
}

std::optional<Lease> Leases::acquire(
    std::string_view name,
    std::chrono::milliseconds wait,
    const LeaseOptions& options,
    const std::stop_token& stop
) {
    auto held = table_->acquire(name, wait, options, stop);
    if (!held) return std::nullopt;
    return Lease{table_, std::move(held)};
}

EfficiencyLeases::EfficiencyLeases(std::shared_ptr<LeaseTable> table) : table_{std::move(table)} {}

EfficiencyLeases EfficiencyLeases::in_redis(const std::string& url) {
    return EfficiencyLeases{
        table_of(locks::redis_lease_backend(url), LeaseTable::Gives::no_tokens)};
}

std::optional<EfficiencyLease> EfficiencyLeases::try_acquire(
    std::string_view name, const LeaseOptions& options
) {
    auto held = table_->try_acquire(name, options);
    if (!held) return std::nullopt;
    return EfficiencyLease{table_, std::move(held)};
}

std::optional<EfficiencyLease> EfficiencyLeases::acquire(
    std::string_view name,
    std::chrono::milliseconds wait,
    const LeaseOptions& options,
    const std::stop_token& stop
) {
    auto held = table_->acquire(name, wait, options, stop);
    if (!held) return std::nullopt;
    return EfficiencyLease{table_, std::move(held)};
}

}  // namespace pawl
