#include "src/http/negotiation.hpp"

#include "src/core/ascii.hpp"
#include "src/core/media_range.hpp"
#include "src/json/fingerprint.hpp"

#include <algorithm>
#include <string>

namespace pawl::http {

namespace {

std::string body_type(const RequestHead& head) {
    return json::media_type(head.header("Content-Type").value_or(""));
}

bool is_bearer(const Header& header) {
    constexpr std::string_view scheme = "Bearer";
    return core::same_without_case(header.name, "Authorization") &&
           core::same_without_case(
               std::string_view{header.value}.substr(0, header.value.find(' ')), scheme
           );
}

// A navigation is a GET without a body; a form may be one, too, or a POST of one of three types. A
// page's script may send the same, but then Sec-Fetch-Mode says so. Neither can set a header.
bool may_be_navigation(const RequestHead& head) {
    if (head.header("Sec-Fetch-Mode").value_or("navigate") != "navigate") return false;
    if (head.count("Idempotency-Key") > 0) return false;
    const auto type = body_type(head);
    if (head.method == "GET" || head.method == "HEAD") return type.empty();
    return head.method == "POST" && (type == "application/x-www-form-urlencoded" ||
                                     type == "multipart/form-data" || type == "text/plain");
}

// Several headers of one name are one list (RFC 9110, 5.3).
std::string accept_of(const RequestHead& head) {
    std::string accept;
    for (const auto& header : head.headers)
        if (core::same_without_case(header.name, "Accept")) accept += header.value + ',';
    return accept;
}

}  // namespace

bool has_bearer(const RequestHead& head) {
    return std::ranges::any_of(head.headers, is_bearer);
}

bool has_json_body(const RequestHead& head) {
    return json::body_kind(body_type(head), "{}") == json::BodyKind::json;
}

bool is_from_program(const RequestHead& head) {
    return has_bearer(head) || has_json_body(head);
}

bool asks_for_page(const RequestHead& head) {
    if (is_from_program(head) || !may_be_navigation(head)) return false;
    const auto accept = accept_of(head);
    const auto json = std::max(
        core::preference(accept, "application/json;charset=utf-8"),
        core::preference(accept, "application/problem+json;charset=utf-8")
    );
    return core::preference(accept, "text/html;charset=utf-8") > json;
}

}  // namespace pawl::http
