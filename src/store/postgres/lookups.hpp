#pragma once

#include "src/store/postgres/transaction.hpp"

#include <exception>
#include <memory>
#include <vector>

namespace pawl::postgres {

// Sends all queries in one packet and passes on their rows. On return `lookups` holds those that
// were not answered, as the connection broke; returns the error.
std::exception_ptr run_lookups(
    const TransactionParts& parts, std::vector<std::unique_ptr<store::Lookup>>& lookups
);

}  // namespace pawl::postgres
