#pragma once

#include <cstdint>

namespace pawl::http {

// Where a connection comes from, for counting: an IPv4 address, or the 64 bits of an IPv6 address
// that name its network, as a client with one of its addresses has them all.
enum class AddressKey : std::uint64_t {};

}  // namespace pawl::http
