#pragma once

#include "src/store/store.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::store {

// Runs each script that this database has not had, in order, with their records in one transaction.
// Returns the names of those it ran. Throws StoreError.
//
// The database may have had migrations of a later release that this binary does not know. Most only
// expand, and older binaries go on beside them. A migration that drops or renames says from which
// migration on a binary works with it, in a line of its own: `-- needs 0003_two_phones`. A binary
// that does not know that one is refused with PAWL0003.
std::vector<std::string> apply_migrations(
    Store& store, std::string_view owner, std::span<const Sql* const> migrations
);

// How a database stands to the migrations that a binary knows. Changes nothing. Throws StoreError.
struct MigrationState {
    std::vector<std::string> pending;
    std::vector<std::string> unknown;  // Applied by a newer binary.
    std::string refusal;  // Why this binary can't work with an unknown one (PAWL0003), or empty.
};
MigrationState compare_migrations(
    Store& store, std::string_view owner, std::span<const Sql* const> migrations
);

}  // namespace pawl::store
