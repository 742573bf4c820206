#pragma once

#include <pawl/service.hpp>

#include <cstdint>
#include <string>

namespace pawl::ops {

// What a server is, in its log: version, database, settings, recovery points.
void log_started(Service& service, const std::string& listen, std::uint16_t port);

}  // namespace pawl::ops
