#pragma once

#include "src/store/postgres/transaction.hpp"

#include <exception>
#include <memory>
#include <vector>

namespace pawl::postgres {

// Sends them all at once and hands on what they find. What is left in `looks` was not answered, as
// the connection broke; the reason is returned.
std::exception_ptr run_looks(
    const TransactionParts& parts, std::vector<std::unique_ptr<store::Look>>& looks
);

}  // namespace pawl::postgres
