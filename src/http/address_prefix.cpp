#include "src/http/address_prefix.hpp"

#include <boost/asio/ip/address.hpp>

namespace pawl::http {

namespace {

namespace ip = boost::asio::ip;

constexpr std::uint64_t v4 = 0xffff'0000'0000;  // No IPv6 network has such a number.

std::optional<ip::address> parse(std::string_view text) {
    constexpr std::size_t longest = 45;  // IPv6 with an IPv4 address at its end.
    if (text.size() > longest || text.find('%') != text.npos) return std::nullopt;
    boost::system::error_code failed;
    auto address = ip::make_address(text, failed);
    if (failed) return std::nullopt;
    if (address.is_v6() && address.to_v6().is_v4_mapped())
        return ip::make_address_v4(ip::v4_mapped, address.to_v6());
    return address;
}

}  // namespace

AddressPrefix address_prefix(std::string_view address) {
    const auto parsed = parse(address.substr(0, address.find('%')));
    if (!parsed) return AddressPrefix{~std::uint64_t{0}};
    if (parsed->is_v4()) return AddressPrefix{v4 | parsed->to_v4().to_uint()};
    const auto bytes = parsed->to_v6().to_bytes();
    std::uint64_t network = 0;
    for (std::size_t i = 0; i < 8; ++i) network = network << 8U | bytes.at(i);
    return AddressPrefix{network};
}

std::optional<std::string> plain_address(std::string_view text) {
    const auto parsed = parse(text);
    return parsed ? std::optional{parsed->to_string()} : std::nullopt;
}

}  // namespace pawl::http
