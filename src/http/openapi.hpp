#pragma once

#include <pawl/detail/json_schema.hpp>
#include <pawl/operation.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace pawl::http {

// A route of a server, as its clients see it.
struct DescribedRoute {
    std::string_view method;   // "POST"
    std::string_view pattern;  // "/rides/{id}"
    std::string_view name;     // Of the operation or the query.
    KeyRule key{KeyRule::none};
    std::vector<detail::FieldSchema> fields;
};

struct Description {
    std::string_view title;
    std::string_view version;
    bool anonymous{};  // The routes need no credentials.
    int key_reused_status{422};
};

// An OpenAPI 3.1 document, in JSON, with the keys, headers and problems of docs/http.md. The bodies
// of successful responses are the application's own and are not described.
std::string openapi(const Description& of, const std::vector<DescribedRoute>& routes);

}  // namespace pawl::http
