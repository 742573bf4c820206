#pragma once

#include <pawl/response.hpp>

#include <cstddef>

namespace pawl::engine {

inline constexpr std::size_t response_body_max = 1024UL * 1024;

// text: UTF-8 without NUL, which every database stores. any: for answers that are not stored.
enum class Bytes { text, any };

// The response as it is stored and replayed: of its headers only Content-Language, Location, ETag
// and Link. Throws std::invalid_argument for a status outside 200 to 599, a body over the limit,
// bytes that are not text, or a header with control characters.
Response checked_response(Response response, Bytes bytes = Bytes::text);

}  // namespace pawl::engine
