#pragma once

#include "src/http/listener.hpp"

#include <optional>
#include <string_view>

namespace pawl::http {

// What a problem's type, such as /errors/key-reused, leads to (RFC 9457, 3.1.1), for everybody: its
// text as plain text for a browser, and as JSON for programs. nullopt: another request.
std::optional<Reply> problem_page(const RequestHead& head);

// The table of docs/http.md, made when the library is built.
extern const std::string_view problem_texts;

}  // namespace pawl::http
