#pragma once

#include <pawl/command_line.hpp>
#include <pawl/database.hpp>

#include "apps/rides/stripe.hpp"

#include <ostream>

namespace rides {

/// `rides reconcile`: every charge that the provider made in the time, and every ride that was made
/// in the time and has a charge, as one of
///   matched       the provider has the charge, and a ride has it
///   differs       the same, but for the amount or the currency
///   theirs-alone  no ride has it. With key_id and standing, if the key of its description is here:
///                 one on the attention list is settled with the charge's id
///   ours-alone    a ride has it, the provider does not
/// Returns 0 if all matched, else 1. Throws StoreError; std::runtime_error for the provider.
int reconcile(
    pawl::Database& database,
    Stripe& stripe,
    const pawl::ReconcileOptions& options,
    std::ostream& out
);

}  // namespace rides
