#pragma once

#include "src/store/store.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::store {

// Runs, once each and in order, the scripts that this database has not had; each in a transaction
// with its record. Names in the database that this binary does not know are another release's, and
// are left alone. Returns the names of what it ran. Throws StoreError.
std::vector<std::string> apply_migrations(
    Store& store, std::string_view owner, std::span<const Sql* const> migrations
);

}  // namespace pawl::store
