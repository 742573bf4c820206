#pragma once

#include <pawl/service.hpp>

#include "src/base/warning.hpp"
#include "src/store/store.hpp"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace pawl::ops {

// What an operator should know of the queue, over a connection of its own. Throws StoreError if it
// can't be reached or does not keep jobs safely.
std::vector<base::Warning> warnings_of_queue(
    const ServiceOptions& options,
    store::Store& store,
    const std::set<std::string, std::less<>>& names
);

}  // namespace pawl::ops
