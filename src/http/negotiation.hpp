#pragma once

#include <pawl/request_head.hpp>

namespace pawl::http {

// No navigation and no form of a browser has either: such a request gets JSON, whatever its Accept
// says.
bool has_bearer(const RequestHead& head);
bool has_json_body(const RequestHead& head);
bool is_from_program(const RequestHead& head);  // It has one of the two.

// Whether the answer should be a page: a browser's navigation or form can have sent the request,
// and Accept prefers HTML to JSON. `*/*` does not, as it names neither.
bool asks_for_page(const RequestHead& head);

}  // namespace pawl::http
