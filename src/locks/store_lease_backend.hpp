#pragma once

#include "src/locks/lease_backend.hpp"
#include "src/store/store.hpp"

namespace pawl::locks {

// Keeps leases in the table `pawl_leases`.
class StoreLeaseBackend final : public LeaseBackend {
public:
    explicit StoreLeaseBackend(store::Store& store) : store_{store} {}  // The store outlives it.
    core::LeaseChoice acquire(
        std::string_view name, std::string_view holder, std::chrono::milliseconds ttl
    ) override;
    bool extend(
        std::string_view name,
        std::int64_t epoch,
        std::string_view holder,
        std::chrono::milliseconds ttl
    ) override;
    void release(std::string_view name, std::string_view holder) override;

private:
    store::Store& store_;
};

}  // namespace pawl::locks
