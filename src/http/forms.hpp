#pragma once

#include <pawl/browser.hpp>
#include <pawl/detail/json_request.hpp>

#include "src/http/listener.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pawl::http {

// A form's fields that do not belong to the operation.
struct FormExtras {
    std::optional<std::string> key;  // From a hidden field: a double click then books one ride.
    std::string token;
};

Reply invalid(const DecodeProblem& problem);  // 400 request-invalid
Reply form_refused();                         // 403 form-refused

// Reads `body` into the fields, the key and the token; or returns a refusal. The token is removed
// from `body`, because it is not part of the request.
std::optional<Reply> read_form(
    const BrowserOptions& browser,
    std::string& body,
    detail::RequestFields& fields,
    FormExtras& extras
);

// The submitted fields, for a page that shows the form again.
std::vector<FormField> form_of(const detail::RequestFields& fields);

// Of a public page, whose body is read only if it is a form.
Reply reply_of(const PublicPage& page, const Request& request);

}  // namespace pawl::http
