#pragma once

#include <cstdint>

namespace pawl::http {

// A client's address, for counting: an IPv4 address, or the upper 64 bits of an IPv6 address, since
// a client usually has all addresses of such a network.
enum class AddressPrefix : std::uint64_t {};

}  // namespace pawl::http
