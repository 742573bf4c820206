#pragma once

#include <pawl/service.hpp>

#include <ostream>

namespace pawl::cli {

// Throws StoreError.
void list_providers(Service& service, bool json, std::ostream& out);

}  // namespace pawl::cli
