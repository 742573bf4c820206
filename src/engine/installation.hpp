#pragma once

#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/core/restore_gap.hpp"
#include "src/store/store.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::engine {

// A server lacks a secret that is in use, or that a key was stored under.
inline constexpr std::string_view secret_missing = "PAWL0024";

// What all nodes of one database share: made once with the schema, or a secret read from a file.
// The database stores a secret that was made in it, and a verifier of one from a file (ADR 21).
struct Installation {
    std::string name;                    // Random; part of every call key.
    std::map<int, std::string> secrets;  // By version; for fingerprints. Only the ones known here.
    int version{};                       // In use.
    int newest_before{0};  // The newest secret of a file that the database had; 0: none.
    // By epoch: what the restore that opened it has lost.
    int epoch{1};
    std::vector<core::RestoreGap> lost;
    // Secrets of the file that the database does not know; an inspection does not record them.
    int new_secrets{0};

    int secret_version() const { return version; }
    // A tool works without the secret file, a server does not.
    bool knows_secret() const { return secrets.contains(version); }
    // Throws std::runtime_error if the secret is only in a file.
    const std::string& secret() const;
};

// Reads the database's current epochs into `into`.
void read_epochs(store::Session& session, Installation& into);

// Reads the installation, or makes it. `secret_file` has a secret in each line, at least 32
// characters: the first is in use, the others are older ones for keys stored under them. Throws
// StoreError, or std::runtime_error for the file.
Installation open_installation(
    store::Store& store, base::Clock& clock, base::Random& random, const std::string& secret_file
);

// Only reads. The name is empty if the database has no installation. Throws as open_installation().
Installation inspect_installation(store::Store& store, const std::string& secret_file);

}  // namespace pawl::engine
