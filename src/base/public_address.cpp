#include "src/base/public_address.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace pawl::base {

namespace {

struct Network {
    std::array<std::uint8_t, 16> prefix;
    std::size_t bits;
};

// IANA's registries of special-purpose addresses that are not globally reachable.
constexpr Network not_public_v4[] = {
    {{0}, 8},
    {{10}, 8},
    {{100, 64}, 10},
    {{127}, 8},
    {{169, 254}, 16},
    {{172, 16}, 12},
    {{192, 0, 0}, 24},
    {{192, 0, 2}, 24},
    {{192, 88, 99}, 24},
    {{192, 168}, 16},
    {{198, 18}, 15},
    {{198, 51, 100}, 24},
    {{203, 0, 113}, 24},
    {{224}, 4},
    {{240}, 4}};
constexpr Network global_v6{{0x20}, 3};
// Teredo and 6to4 are among them, because they wrap any IPv4 address.
constexpr Network not_public_v6[] = {
    {{0x20, 0x01, 0x00}, 23},
    {{0x20, 0x01, 0x0d, 0xb8}, 32},
    {{0x20, 0x02}, 16},
    {{0x3f, 0xff}, 20}};
// NAT64 (RFC 6052): the last 4 bytes are the IPv4 address.
constexpr Network nat64{{0x00, 0x64, 0xff, 0x9b}, 96};

bool is_in(std::span<const std::uint8_t> address, const Network& network) {
    for (std::size_t bit = 0; bit < network.bits; ++bit) {
        const auto mask = 0x80U >> (bit % 8);
        if ((address[bit / 8] & mask) != (network.prefix[bit / 8] & mask)) return false;
    }
    return true;
}

template <std::size_t N>
bool in_none(std::span<const std::uint8_t> address, const Network (&networks)[N]) {
    return std::ranges::none_of(networks, [address](const auto& it) { return is_in(address, it); });
}

}  // namespace

bool is_public_address(std::span<const std::uint8_t> address) {
    if (address.size() == 4) return in_none(address, not_public_v4);
    if (address.size() != 16) return false;
    if (is_in(address, nat64)) return in_none(address.last(4), not_public_v4);
    return is_in(address, global_v6) && in_none(address, not_public_v6);
}

}  // namespace pawl::base
