#pragma once

#include "src/core/clock.hpp"
#include "src/store/store.hpp"

#include <map>
#include <string>

namespace pawl::engine {

// What all nodes on one database share: made once with the schema, or the secret read from a file.
struct Installation {
    std::string name;                    // Random; part of every foreign key.
    std::map<int, std::string> secrets;  // By version; for fingerprints. The highest is in use.
    int secret_version() const { return secrets.rbegin()->first; }
    const std::string& secret() const { return secrets.rbegin()->second; }
};

// Reads it, or makes it. With `secret_file` (one line, at least 32 characters) the file's text is
// the newest secret. Throws StoreError, or std::runtime_error for the file.
Installation open_installation(
    store::Store& store, core::Clock& clock, core::Random& random, const std::string& secret_file
);

}  // namespace pawl::engine
