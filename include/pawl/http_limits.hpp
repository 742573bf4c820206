#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace pawl {

// What one client may cost an HttpServer before its request is complete. See docs/http.md.
struct HttpLimits {
    std::size_t line_max{8UL * 1024};  // Bytes of the request line; beyond: 414.
    // Bytes of all headers, and of a body's trailers; beyond, or with too many of them: 431.
    std::size_t headers_max{32UL * 1024};
    int headers_count_max{100};
    std::size_t body_max{1024UL * 1024};  // Bytes; beyond: 413. Held in memory, stored with a key.
    // The same for routes of HttpServer::public_page; there a GET has no body.
    std::size_t public_body_max{16UL * 1024};
    // Bytes of all bodies that the server holds, until they are answered; beyond: 503.
    std::size_t bodies_max{256UL * 1024 * 1024};
    // From the first byte of a request to the end of its headers; beyond: 408.
    std::chrono::milliseconds header_timeout{10'000};
    // Bytes a second of a body. A client that falls behind this rate by `body_grace` gets 408;
    // bytes that came faster before do not count. An answer may take `write_timeout`, plus its size
    // at this rate; then the connection is closed.
    std::size_t body_rate_min{1024};
    std::chrono::milliseconds body_grace{5'000};
    std::chrono::milliseconds write_timeout{30'000};
    // Of a kept-alive connection without a request.
    std::chrono::milliseconds idle_timeout{60'000};

    std::optional<std::string> problem() const;  // Names the limit, its value and what is allowed.
};

}  // namespace pawl
