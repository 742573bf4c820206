#pragma once

#include "src/core/lease.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::locks {

// Where leases are kept: one entry for each name, by the place's clock (src/core/lease.hpp says who
// has it). Every member blocks, may be called from any thread, and throws StoreError; in doubt if
// no answer came.
class Place {
public:
    virtual ~Place() = default;
    // `holder` is of one acquisition alone: the same again has it anew.
    virtual core::LeaseChoice take(
        std::string_view name, std::string_view holder, std::chrono::milliseconds ttl
    ) = 0;
    // False: it is over, or another's.
    virtual bool extend(
        std::string_view name,
        std::int64_t epoch,
        std::string_view holder,
        std::chrono::milliseconds ttl
    ) = 0;
    // Does nothing if it is another's.
    virtual void give_back(std::string_view name, std::string_view holder) = 0;
    // Why an epoch taken before this moment may be given again; nothing if it can't.
    virtual std::optional<std::string> fence_problem() { return std::nullopt; }
};

}  // namespace pawl::locks
