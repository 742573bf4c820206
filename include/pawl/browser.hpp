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

// Pages and forms for browsers: pages made of the answers that other clients get as JSON, and forms
// that may be sent twice. docs/howto/forms.md has the whole pattern.
namespace pawl {

struct FormField {
    std::string name;   // Decoded UTF-8.
    std::string value;  // Decoded UTF-8 without U+0000.
};

// An answer for a browser. All members are borrowed for the duration of the call.
struct Shown {
    const RequestHead& head;
    const Principal* principal{};  // nullptr: the credentials name nobody.
    // "/rides/{id}"; empty: no route has this path, or it is not known yet.
    std::string_view route{};
    std::string_view key{};             // Idempotency-Key as the server read it; empty: none.
    std::span<const FormField> form{};  // The form without the key and the token.
    int status{};
    const std::vector<Header>& headers;
    std::string_view body{};  // The stored answer, or a problem: "application/problem+json".

    // The value of the first header of this name, matched with case.
    std::string_view header(std::string_view name) const;
};

// The request of a page that needs no principal, such as a sign-in or a style sheet.
struct PublicRequest {
    const RequestHead& head;
    std::span<const FormField> form;  // Of application/x-www-form-urlencoded; otherwise empty.
};
using PublicPage = std::function<Response(const PublicRequest&)>;

struct BrowserOptions {
    // Makes a page of an answer to a browser's navigation or form, if its Accept prefers HTML to
    // JSON; never for a bearer token or a JSON body. nullopt: the client gets the answer itself.
    // The stored answer does not change. Retry-After and the contract's headers are added. Called
    // on any thread, concurrently; must not block. If it throws, or its page can't be sent, the
    // answer itself is sent.
    std::function<std::optional<Response>(const Shown&)> present{};
    // Browsers send cookies whatever page caused the request. Called before every operation, after
    // its body has arrived; false: 403 `form-refused`, and nothing has begun. `token` is the form
    // field `token_field`, or empty. This field is not part of the request: it may differ in a
    // repeat.
    std::function<bool(const RequestHead&, std::string_view token)> from_own_page{};
    std::string token_field{"form_token"};
};

}  // namespace pawl
