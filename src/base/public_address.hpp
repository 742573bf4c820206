#pragma once

#include <cstdint>
#include <span>

namespace pawl::base {

// Whether an IP address, 4 or 16 bytes in network order, is one of the public Internet: none of a
// private network, of this machine, of a link (such as a cloud's metadata server) or of a group.
bool is_public_address(std::span<const std::uint8_t> address);

}  // namespace pawl::base
