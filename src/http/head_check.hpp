#pragma once

#include <pawl/http_limits.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace pawl::http {

struct HeadProblem {
    int status{};
    std::string_view why;
};

// Checks the MUSTs of RFC 9112 that Beast's parser is lenient with (obs-fold, repeated
// Content-Length, Host), or refuses without naming the reason; request smuggling uses them. `head`
// ends with its empty line.
std::optional<HeadProblem> check_head(std::string_view head, const HttpLimits& limits);

// The same for a chunk's line after its size: Beast reads a LF in quotes as a character...
std::optional<HeadProblem> check_extensions(std::string_view extensions);
// ...and for the trailers after the last chunk, with their empty line: Beast accepts folded ones.
std::optional<HeadProblem> check_trailers(std::string_view trailers, const HttpLimits& limits);

// The path and query of a request's target: all of "/a?b", the part after the host of
// "http://host/a?b" (RFC 9112, 3.2.2), or "*". nullopt: it has another form, or names a user.
std::optional<std::string> origin_form(std::string_view target);

// Decodes the %XX of a path; nullopt for a broken escape, %00 or invalid UTF-8.
std::optional<std::string> decode_path(std::string_view path);

}  // namespace pawl::http
