#pragma once

#include <pawl/request_head.hpp>

#include <string>
#include <string_view>
#include <variant>

namespace pawl::http {

// The Idempotency-Key of a request: as in draft-ietf-httpapi-idempotency-key-header-07, or the bare
// form that most clients send. "quoted" and bare are the same key: 1 to 255 visible ASCII
// characters without `" , ; \`. Parameters of a quoted key are ignored (RFC 9651).
struct NoKey {};
struct KeyProblem {
    std::string why;
};
using KeyHeader = std::variant<NoKey, std::string, KeyProblem>;

KeyHeader key_header(const RequestHead& head);
// The same rules for a key in a form field.
KeyHeader key_of(std::string_view text);

}  // namespace pawl::http
