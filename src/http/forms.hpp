#pragma once

#include <pawl/browser.hpp>
#include <pawl/detail/json_request.hpp>

#include "src/http/listener.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pawl::http {

// What a form carries beside the operation's own fields.
struct FormExtras {
    std::optional<std::string> key;  // A hidden field may carry it: a double click books one ride.
    std::string token;
};

Reply invalid(const DecodeProblem& problem);  // 400 request-invalid
Reply form_refused();                         // 403 form-refused

// Reads `body` into the fields, and the key and the token out of them; or why it is refused. The
// token is taken out of `body` too: it makes no other request of it.
std::optional<Reply> read_form(
    const BrowserOptions& browser,
    std::string& body,
    detail::RequestFields& fields,
    FormExtras& extras
);

// The fields that came by a form, for the page that may show them again.
std::vector<FormField> form_of(const detail::RequestFields& fields);

// The body of a request to an open page; nothing but a form is read.
std::variant<std::vector<FormField>, DecodeProblem> open_form(const Request& request);

}  // namespace pawl::http
