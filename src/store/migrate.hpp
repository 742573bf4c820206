#pragma once

#include "src/store/store.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::store {

// Runs, once each and in order, the scripts that this database has not had, with their records and
// all in one transaction. Returns the names of what it ran. Throws StoreError.
//
// Names in the database that this binary does not know are a later release's. Most only expand, and
// binaries of the release before go on beside them. One that contracts (drops or renames) says from
// which migration on a binary can live with it, in a line of its own: `-- needs 0003_two_phones`. A
// binary that does not know that one is refused with PAWL0003.
std::vector<std::string> apply_migrations(
    Store& store, std::string_view owner, std::span<const Sql* const> migrations
);

}  // namespace pawl::store
