#pragma once

#include <pawl/service.hpp>

#include <ostream>

namespace pawl::cli {

// Lists the running servers with what each one holds. Throws StoreError.
void list_servers(Service& service, bool json, std::ostream& out);

}  // namespace pawl::cli
