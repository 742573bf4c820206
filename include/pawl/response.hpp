#pragma once

#include <pawl/request_head.hpp>

#include <string>
#include <utility>
#include <vector>

namespace pawl {

// The response of an operation, stored with its key and replayed, byte for byte, to every repeat.
// The stored body is at most 1 MiB of UTF-8 without NUL (send other bytes as base64, or a link);
// anything else is a 500 and rolls back the phase. Of the headers, Content-Language, Location, ETag
// and Link are stored and replayed. A header with a control character, or one that belongs to the
// server (Content-Length, Connection, Date), is never sent: 500 and `response_invalid` in the log.
struct Response {
    int status{200};
    std::string body{};
    std::string content_type{"application/json"};
    std::vector<Header> headers{};
};

inline Response respond(int status, std::string body) {
    return {.status = status, .body = std::move(body)};
}

// How a step ends its request. Either response is stored with the key, and replayed.
struct Answer {  // What the step wrote is committed.
    Response response{};
};
// What this step wrote, and the jobs that it staged, are rolled back. What earlier steps wrote
// stays: a refusal after a charge does not refund it. A step that may refuse names Refusal among
// its targets, and runs in a savepoint: Next<RideCreated, Refusal>.
struct Refusal {
    Response response{};
};

inline Answer answer(Response response) {
    return {std::move(response)};
}
inline Answer answer(int status, std::string body) {
    return {respond(status, std::move(body))};
}
inline Refusal refuse(Response response) {
    return {std::move(response)};
}
inline Refusal refuse(int status, std::string body) {
    return {respond(status, std::move(body))};
}

}  // namespace pawl
