#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::http {

// A client's address, for counting: an IPv4 address, or the upper 64 bits of an IPv6 address, since
// a client usually has all addresses of such a network.
enum class AddressPrefix : std::uint64_t {};

// All texts that are no address have the same prefix.
AddressPrefix address_prefix(std::string_view address);

// One text for one address: an IPv4 address that an IPv6 socket shows ("::ffff:192.0.2.1") is
// written as IPv4. nullopt: no address, or one with a zone.
std::optional<std::string> plain_address(std::string_view text);

}  // namespace pawl::http
