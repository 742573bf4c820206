#pragma once

// Internal: needs Asio.

#include <boost/asio/ip/tcp.hpp>  // tidy: allow header: for those who listen

#include <optional>
#include <string>

namespace pawl::http {

// "127.0.0.1:8080", "localhost:8080" or "[::1]:8080"; nullopt for any other text.
std::optional<boost::asio::ip::tcp::endpoint> endpoint_of(const std::string& listen);

}  // namespace pawl::http
