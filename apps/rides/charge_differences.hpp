#pragma once

#include "apps/rides/stripe.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rides {

// A ride that has a charge, as a row.
struct RideWithCharge {
    std::int64_t id{};
    std::string created_at;
    std::string charge;
    std::int64_t amount{};
    std::string currency;
    std::string state;
    std::int64_t refunded{};  // By refunds that were made.
};

// A charge that is not the same on both sides.
struct ChargeDifference {
    std::string charge;
    std::string kind;  // only-theirs, only-ours, differs
    std::optional<std::int64_t> ride;
    std::int64_t amount{};
    std::string currency;
    std::string detail;  // "amount: theirs 1999, ours 2000"
};

// What differs in a charge that both have: amount, currency, and what of it was refunded.
// Empty: nothing.
std::string detail_of(const BookedCharge& theirs, const RideWithCharge& ours);
ChargeDifference differing(const BookedCharge& theirs, const RideWithCharge& ours);

// The charges of only one side, and those that differ. Sorts both, by charge.
struct Compared {
    std::vector<BookedCharge> only_theirs;
    std::vector<RideWithCharge> only_ours;
    std::vector<ChargeDifference> differ;
};
Compared compare(std::vector<BookedCharge> theirs, std::vector<RideWithCharge> ours);

}  // namespace rides
