#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

struct Header {
    std::string name;   // As it was sent; compared without case.
    std::string value;  // Without the surrounding white space.
};

// The head of an HTTP request. `target` is path and query as sent (without a leading
// "http://host"), or "*"; `path` is percent-decoded; `query` follows the first `?`, undecoded.
struct RequestHead {
    std::string method;
    std::string target;
    std::string path;
    std::string query;
    std::vector<Header> headers;
    // Without the port: "127.0.0.1", "2001:db8::1". Behind a trusted proxy (HttpOptions), the
    // address that the proxy names; `peer_address` is always the other side of the connection.
    std::string client_address;
    std::string peer_address{};

    // The value of the only header of this name; nullopt: none, or several.
    std::optional<std::string_view> header(std::string_view name) const;
    int count(std::string_view name) const;
};

}  // namespace pawl
