#include "src/http/endpoint.hpp"

#include <boost/asio/ip/address.hpp>

#include <charconv>
#include <cstdint>
#include <system_error>

namespace pawl::http {

std::optional<boost::asio::ip::tcp::endpoint> endpoint_of(const std::string& listen) {
    const auto colon = listen.rfind(':');
    if (colon == listen.npos) return std::nullopt;
    auto host = listen.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (host == "localhost") host = "127.0.0.1";
    boost::system::error_code error;
    const auto address = boost::asio::ip::make_address(host, error);
    unsigned port = 0;
    const char* end = listen.data() + listen.size();
    const auto [last, bad] = std::from_chars(listen.data() + colon + 1, end, port);
    if (error || bad != std::errc{} || last != end || port > 65'535) return std::nullopt;
    return boost::asio::ip::tcp::endpoint{address, static_cast<std::uint16_t>(port)};
}

}  // namespace pawl::http
