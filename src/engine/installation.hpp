#pragma once

#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/core/lost_time.hpp"
#include "src/store/store.hpp"

#include <map>
#include <string>
#include <vector>

namespace pawl::engine {

// What all nodes on one database share: made once with the schema, or the secret read from a file.
// The database holds a secret that was made in it, and of one from a file only what verifies it
// (ADR 21).
struct Installation {
    std::string name;                    // Random; part of every foreign key.
    std::map<int, std::string> secrets;  // By version; for fingerprints. Those that are known here.
    int version{};                       // In use.
    // By epoch: what the restores have lost that opened them.
    int epoch{1};
    std::vector<core::LostTime> lost;

    int secret_version() const { return version; }
    // A tool can do without the file that holds it, a server can't.
    bool knows_secret() const { return secrets.contains(version); }
    const std::string& secret() const;  // Throws std::runtime_error if it is in a file only.
};

// Its epochs, as the database has them now.
void read_epochs(store::Session& session, Installation& into);

// Reads it, or makes it. With `secret_file` (a secret in each line, at least 32 characters) the
// first line is the secret in use; the lines below are older ones, by which keys are known that
// were stored under them. Throws StoreError, or std::runtime_error for the file.
Installation open_installation(
    store::Store& store, base::Clock& clock, base::Random& random, const std::string& secret_file
);

}  // namespace pawl::engine
