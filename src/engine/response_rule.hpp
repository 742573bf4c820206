#pragma once

#include <pawl/response.hpp>

#include <cstddef>

namespace pawl::engine {

inline constexpr std::size_t response_body_max = 1024UL * 1024;

// Text: as every database keeps it, UTF-8 without NUL. Any: of what is answered and not stored.
enum class Bytes { text, any };

// The response as it is stored and replayed: of its headers only Content-Language, Location, ETag
// and Link. Throws std::invalid_argument for a status outside 200 to 599, a body over the limit,
// what is no text, or a header that could split the answer.
Response storable(Response response, Bytes bytes = Bytes::text);

}  // namespace pawl::engine
