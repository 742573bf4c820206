#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace pawl {

// What one client may cost an HttpServer before its request is whole. docs/http.md says how each is
// answered.
struct HttpLimits {
    std::size_t line_max{8UL * 1024};  // Bytes of the request line; more is 414.
    // Bytes of all headers, and of the trailers of a body; more is 431, and so is a greater number.
    std::size_t headers_max{32UL * 1024};
    int headers_count_max{100};
    std::size_t body_max{1024UL * 1024};  // Bytes; more is 413. Held in memory, stored with a key.
    // The same on a route that is open to everybody (HttpServer::open); a GET of one has no body.
    std::size_t open_body_max{16UL * 1024};
    // Bytes of all bodies that the server holds at once, until they are answered; more is 503.
    std::size_t bodies_max{256UL * 1024 * 1024};
    // From the first byte of a request to the end of its headers; more is 408.
    std::chrono::milliseconds header_timeout{10'000};
    // Bytes a second of a body: who falls behind this rate by `body_grace` gets 408, and what came
    // faster before does not count. An answer may take `write_timeout`, and so much more as it is
    // large at this rate; then the connection is closed.
    std::size_t body_rate_min{1024};
    std::chrono::milliseconds body_grace{5'000};
    std::chrono::milliseconds write_timeout{30'000};
    std::chrono::milliseconds idle_timeout{60'000};  // Of a kept connection without a request.

    std::optional<std::string> problem() const;  // Names the limit, its value and what is allowed.
};

}  // namespace pawl
