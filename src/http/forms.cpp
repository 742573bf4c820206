#include "src/http/forms.hpp"

#include <pawl/detail/erased_operation.hpp>

#include "src/http/problem.hpp"
#include "src/json/fingerprint.hpp"
#include "src/json/form.hpp"

#include <algorithm>
#include <utility>

namespace pawl::http {

namespace {

constexpr std::string_view key_field = "idempotency_key";

bool has_field(const detail::RequestFields& fields, std::string_view name) {
    return std::ranges::any_of(fields.texts(), [name](const auto& text) {
        return text.source == detail::TextSource::form && text.name == name;
    });
}

Reply two_keys() {
    return problem_reply({.type = "key-invalid", .detail = "The form has more than one key."});
}

// A parsed form without one of its fields.
std::string without(std::string_view field, std::string_view form) {
    auto pairs = std::get<0>(json::parse_pairs(form));
    std::erase_if(pairs, [&](const json::Pair& pair) { return pair.name == field; });
    return json::canonical(std::move(pairs));
}

}  // namespace

Reply invalid(const DecodeProblem& problem) {
    return problem_reply({.type = "request-invalid", .detail = detail::text_of(problem)});
}

Reply form_refused() {
    return problem_reply(
        {.type = "form-refused",
         .detail = "The form has no token of your session; the request was not started."}
    );
}

std::optional<Reply> read_form(
    const BrowserOptions& browser,
    std::string& body,
    detail::RequestFields& fields,
    FormExtras& extras
) {
    if (auto problem = fields.add_form(body)) return invalid(*problem);
    extras.key = fields.take_form(key_field);
    if (has_field(fields, key_field)) return two_keys();
    if (!browser.from_own_page) return std::nullopt;
    if (auto token = fields.take_form(browser.token_field)) {
        extras.token = std::move(*token);
        body = without(browser.token_field, body);
    }
    return has_field(fields, browser.token_field) ? std::optional{form_refused()} : std::nullopt;
}

std::vector<FormField> form_of(const detail::RequestFields& fields) {
    std::vector<FormField> form;
    for (const auto& text : fields.texts())
        if (text.source == detail::TextSource::form) form.push_back({text.name, text.value});
    return form;
}

Reply reply_of(const PublicPage& page, const Request& request) {
    std::vector<FormField> form;
    const auto type = request.head.header("Content-Type").value_or("");
    if (json::body_kind(type, request.body) == json::BodyKind::form) {
        auto pairs = json::parse_pairs(request.body);
        if (const auto* problem = std::get_if<DecodeProblem>(&pairs)) return invalid(*problem);
        for (auto& pair : std::get<0>(pairs))
            form.push_back({std::move(pair.name), std::move(pair.value)});
    }
    return reply_to(engine::StoredResponse{page({request.head, form}), false, {}}, 422);
}

}  // namespace pawl::http
