#pragma once

#include <pawl/request_head.hpp>

#include <string>
#include <utility>
#include <vector>

namespace pawl {

// The answer of an operation, stored with its key and given again, byte for byte, to every repeat.
// At most 1 MiB of body is stored, and what is stored is UTF-8 without NUL (other bytes in base64,
// or by a link): anything else is a 500, and nothing of its phase is kept. Of the headers,
// Content-Language, Location, ETag and Link are stored and replayed. A header with a control
// character, or one that is the server's own (Content-Length, Connection, Date), is never sent: 500
// and `answer_refused` in the log.
struct Response {
    int status{200};
    std::string body{};
    std::string content_type{"application/json"};
    std::vector<Header> headers{};
};

inline Response respond(int status, std::string body) {
    return {.status = status, .body = std::move(body)};
}

}  // namespace pawl
