#pragma once

#include <pawl/request_head.hpp>

#include <string>
#include <utility>
#include <vector>

namespace pawl {

// The answer of an operation, stored with its key and given again, byte for byte, to every repeat.
// At most 1 MiB of body is stored. Of the headers, Content-Language, Location, ETag and Link are
// stored and replayed.
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
