#pragma once

#include "src/core/lease.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::locks {

// Stores leases: one entry for each name, by the backend's clock (src/core/lease.hpp decides who
// gets one). Every member blocks, is thread-safe, and throws StoreError.
class LeaseBackend {
public:
    virtual ~LeaseBackend() = default;
    // `holder` identifies one acquisition: repeating it with the same holder succeeds.
    virtual core::LeaseChoice acquire(
        std::string_view name, std::string_view holder, std::chrono::milliseconds ttl
    ) = 0;
    // False: the lease has ended, or another holder has it.
    virtual bool extend(
        std::string_view name,
        std::int64_t epoch,
        std::string_view holder,
        std::chrono::milliseconds ttl
    ) = 0;
    // Does nothing if another holder has it.
    virtual void release(std::string_view name, std::string_view holder) = 0;
    // Why an epoch given before now might be given again; nullopt: it can't.
    virtual std::optional<std::string> fence_problem() { return std::nullopt; }
};

}  // namespace pawl::locks
