#pragma once

#include <pawl/request_head.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::http {

// The proxies that may say for which client they send a request, in one of these headers. Each one
// adds the address from which it was asked at the end; what stands before may be anybody's text.
//
//   Forwarded: for=192.0.2.43;proto=https, for="[2001:db8:cafe::17]:4711"      RFC 7239
//   X-Forwarded-For: 192.0.2.43, 2001:db8:cafe::17
//
// So both are read from the right, as far as the addresses are those of trusted proxies.
class TrustedProxies {
public:
    TrustedProxies() = default;
    // Addresses and networks: "10.0.0.5", "10.1.0.0/16", "2001:db8::/32". Without a problem().
    explicit TrustedProxies(const std::vector<std::string>& listed);
    static std::optional<std::string> problem(const std::vector<std::string>& listed);

    bool contains(std::string_view address) const;
    // The first address from the right that is no trusted proxy's; the last trusted one if the next
    // is malformed, "unknown" or a name that hides it; `peer` if the two headers name different
    // clients, as one of them is then not the proxy's. `peer` is plain_address() of the
    // connection's other side.
    std::string client_address(const std::string& peer, const std::vector<Header>& headers) const;

private:
    struct Network {
        std::array<std::uint8_t, 16> bytes{};  // IPv4 addresses as ::ffff:192.0.2.1.
        unsigned bits{};
    };
    static std::optional<Network> parse(std::string_view text);

    std::vector<Network> networks_;
};

// The address of a `for` of Forwarded (unquoted) or of an element of X-Forwarded-For, as
// plain_address(): with or without a port, IPv6 with or without brackets. nullopt: none.
std::optional<std::string> address_of_node(std::string_view node);

}  // namespace pawl::http
