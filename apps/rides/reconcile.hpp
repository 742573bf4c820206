#pragma once

#include <pawl/command_line.hpp>
#include <pawl/database.hpp>

#include "apps/rides/stripe.hpp"

#include <ostream>

namespace rides {

/// `rides reconcile` compares the provider's charges of a period, authorised ones too, with the
/// rides and trips of that period that have a charge. Each is one of
///   matched       the provider has the charge, and a ride or a trip has it
///   differs       the same, but with another amount or currency
///   only-theirs  no ride or trip has it. With key_id and key_status, if its key is here:
///                 a key on the attention list is settled with the charge's id
///   only-ours    a ride or a trip has it, the provider does not
/// Returns 0 if all matched, else 1. Throws StoreError; std::runtime_error for the provider.
int reconcile(
    pawl::Database& database,
    Stripe& stripe,
    const pawl::ReconcileOptions& options,
    std::ostream& out
);

}  // namespace rides
