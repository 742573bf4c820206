#pragma once

#include <pawl/principal.hpp>
#include <pawl/request_head.hpp>
#include <pawl/response.hpp>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Browsers in front of operations: pages made of the answers that other clients get as JSON, and
// forms that may be sent twice. docs/howto/forms.md has the whole pattern.
namespace pawl {

struct FormField {
    std::string name;   // Decoded UTF-8.
    std::string value;  // Decoded UTF-8 without U+0000.
};

// An answer on its way to a browser. All of it is borrowed, for the call.
struct Shown {
    const RequestHead& head;
    const Principal* principal{};  // Null: nobody is known by the credentials.
    std::string_view route{};      // "/rides/{id}"; empty if none has the path, or not yet known.
    std::string_view key{};        // Idempotency-Key, as the server read it; empty without one.
    std::span<const FormField> form{};  // What was sent, without the key and the token.
    int status{};
    const std::vector<Header>& headers;
    std::string_view body{};  // A stored answer, or a problem: "application/problem+json".

    // The value of the first header of this name, in this spelling.
    std::string_view header(std::string_view name) const;
};

// What a page asks that needs no principal: a sign-in, a style sheet.
struct OpenAsked {
    const RequestHead& head;
    std::span<const FormField> form;  // Of application/x-www-form-urlencoded; else empty.
};
using OpenPage = std::function<Response(const OpenAsked&)>;

struct BrowserOptions {
    // Makes a page of an answer, for clients whose Accept names text/html. Nothing: they get the
    // answer itself. What is stored under the key stays what it is. Retry-After and the headers of
    // the contract are sent along. On any thread, several at once; quick, no waiting. If it throws,
    // or makes a page that can't be sent, the answer itself is sent.
    std::function<std::optional<Response>(const Shown&)> present{};
    // A browser sends cookies along whatever page made it send a request. Asked before every
    // operation, once its body has come; false: 403 `form-refused`, and nothing was begun. `token`
    // is the value of the form's field `token_field`, or empty. The field is no part of the
    // request: a repeat may have another one.
    std::function<bool(const RequestHead&, std::string_view token)> from_own_page{};
    std::string token_field{"form_token"};
};

}  // namespace pawl
