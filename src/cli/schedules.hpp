#pragma once

#include <pawl/service.hpp>

#include <ostream>

namespace pawl::cli {

// Lists the schedules of periodic jobs, with their next and last ticks. Throws StoreError.
void list_schedules(Service& service, bool json, std::ostream& out);

}  // namespace pawl::cli
