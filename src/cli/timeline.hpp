#pragma once

#include <pawl/service.hpp>

#include "src/cli/key_selector.hpp"

#include <ostream>

namespace pawl::cli {

// `keys timeline`: what happened to a key, oldest first. Throws CommandFailed and StoreError.
void show_timeline(Service& service, const KeySelector& which, bool json, std::ostream& out);

}  // namespace pawl::cli
