#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::http {

struct HeadLimits {
    std::size_t line_max{};
    int headers_count_max{};
};
struct HeadProblem {
    int status{};
    std::string_view why;
};

// The MUSTs of RFC 9112 on the bytes of a request's head that Beast's parser is lenient with
// (obs-fold, repeated Content-Length, Host), or answers without telling which: the request
// smuggler's tools. `head` ends with its empty line.
std::optional<HeadProblem> check_head(std::string_view head, const HeadLimits& limits);

// The same of a chunk's line, behind its size, where Beast takes a LF in quotes for a character...
std::optional<HeadProblem> check_extensions(std::string_view extensions);
// ...and of the fields behind the last chunk, with their empty line: Beast takes folded ones.
std::optional<HeadProblem> check_trailers(std::string_view trailers, const HeadLimits& limits);

// The path and query of a request's target: of "/a?b" all of it, of "http://host/a?b" (RFC 9112,
// 3.2.2) what is behind the host, "*" as it is. Nothing: it is none of them, or it names a user.
std::optional<std::string> origin_form(std::string_view target);

// %XX of a path; nothing for a broken escape, %00 or invalid UTF-8.
std::optional<std::string> decode_path(std::string_view path);

}  // namespace pawl::http
