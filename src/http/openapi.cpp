#include "src/http/openapi.hpp"

#include "src/core/ascii.hpp"
#include "src/http/problem.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <map>

namespace pawl::http {

namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;

constexpr std::string_view key_description =
    "Names this request: save it before you send it, send the same one with every repeat, and a "
    "new one with every new request. A repeat gets the stored answer.";

value reference(const std::string& to) {
    return object{{"$ref", "#/components/" + to}};
}

object header_of(std::string_view description, object schema) {
    return {{"description", description}, {"schema", std::move(schema)}};
}

object key_parameter(KeyRule rule) {
    return {
        {"name", "Idempotency-Key"},
        {"in", "header"},
        {"required", rule == KeyRule::required},
        {"description", key_description},
        {"schema",
         object{
             {"type", "string"},
             {"minLength", 1},
             {"maxLength", 255},
             {"pattern", R"(^(?:"[!#-+\-:<-\[\]-~]+"|[!#-+\-:<-\[\]-~]+)$)"}}}};
}

bool is_in_path(const DescribedRoute& route, std::string_view field) {
    return route.pattern.find("{" + std::string{field} + "}") != std::string_view::npos;
}

object parameter(const DescribedRoute& route, const detail::FieldSchema& field) {
    const bool in_path = is_in_path(route, field.name);
    const bool in_header = !field.header.empty();
    return {
        {"name", in_header ? field.header : field.name},
        {"in",
         in_header ? "header"
         : in_path ? "path"
                   : "query"},
        {"required", in_path || field.required},
        {"schema", boost::json::parse(field.schema)}};
}

// The fields that a client sends in the body.
object body_of(const std::vector<const detail::FieldSchema*>& fields) {
    object properties;
    array required;
    for (const auto* field : fields) {
        properties[field->name] = boost::json::parse(field->schema);
        if (field->required) required.emplace_back(field->name);
    }
    const bool any = !required.empty();
    object schema{
        {"type", "object"},
        {"properties", std::move(properties)},
        {"required", std::move(required)},
        {"additionalProperties", false}};
    return {
        {"required", any},
        {"content", object{{"application/json", object{{"schema", std::move(schema)}}}}}};
}

// The statuses of problems that a request of this kind may get.
bool may_get(const ProblemKind& kind, const DescribedRoute& route, const Description& of) {
    const std::string_view type = kind.type;
    if (type == "unauthorized") return !of.anonymous;
    if (type == "key-reused")
        return route.key != KeyRule::none && kind.status == of.key_reused_status;
    if (type == "key-missing") return route.key == KeyRule::required;
    if (type == "key-invalid" || type == "in-progress" || type == "key-expired" ||
        type == "given-up" || type == "needs-attention" || type == "on-hold" ||
        type == "stranded" || type == "other-server" || type == "provider-unavailable" ||
        type == "not-recorded")
        return route.key != KeyRule::none;
    const bool writes = route.method != "GET";
    if (type == "precondition-failed" || type == "form-refused" || type == "type-not-supported" ||
        type == "phase-deadline" || type == "contention")
        return writes;
    return type != "not-found" && type != "method-not-allowed";
}

object responses_of(const DescribedRoute& route, const Description& of) {
    std::map<int, std::string> problems;
    for (const auto& kind : problem_kinds()) {
        if (!may_get(kind, route, of)) continue;
        auto& types = problems[kind.status];
        types += (types.empty() ? "" : ", ") + std::string{kind.type};
    }
    object headers;
    if (route.key != KeyRule::none)
        for (const auto* name : {"Idempotent-Replayed", "Idempotency-Expires"})
            headers[name] = reference("headers/" + std::string{name});
    object responses{
        {"2XX", object{{"description", "The operation's answer"}, {"headers", std::move(headers)}}},
        {"4XX",
         object{
             {"description", "The operation's own refusal, stored and replayed, or a problem"},
             {"content",
              object{
                  {"application/problem+json",
                   object{{"schema", reference("schemas/Problem")}}}}}}}};
    for (const auto& [status, types] : problems) {
        object response{
            {"description", types},
            {"content",
             object{
                 {"application/problem+json", object{{"schema", reference("schemas/Problem")}}}}}};
        if (status == 409 || status == 429 || status >= 500)
            response["headers"] = object{{"Retry-After", reference("headers/Retry-After")}};
        responses[std::to_string(status)] = std::move(response);
    }
    return responses;
}

object operation_of(const DescribedRoute& route, const Description& of) {
    array parameters;
    std::vector<const detail::FieldSchema*> in_body;
    const bool has_body = route.method == "POST" || route.method == "PUT";
    for (const auto& field : route.fields)
        if (has_body && field.header.empty() && !is_in_path(route, field.name))
            in_body.push_back(&field);
        else
            parameters.emplace_back(parameter(route, field));
    if (route.key != KeyRule::none) parameters.emplace_back(key_parameter(route.key));
    object operation{
        {"operationId", route.name},
        {"parameters", std::move(parameters)},
        {"responses", responses_of(route, of)}};
    if (!in_body.empty()) operation["requestBody"] = body_of(in_body);
    return operation;
}

object components(const Description& of) {
    array types;
    for (const auto& kind : problem_kinds()) {
        const value type{"/errors/" + std::string{kind.type}};
        if (std::ranges::find(types, type) == types.end()) types.push_back(type);
    }
    object problem{
        {"type", "object"},
        {"description", "RFC 9457. An operation may have types of its own."},
        {"properties",
         object{
             {"type", object{{"type", "string"}, {"examples", std::move(types)}}},
             {"title", object{{"type", "string"}}},
             {"status", object{{"type", "integer"}}},
             {"detail", object{{"type", "string"}}},
             {"retry",
              object{
                  {"type", "boolean"},
                  {"description", "The same request, with the same key, may succeed later."}}},
             {"code", object{{"type", "string"}}}}},
        // RFC 9457 has `type` optional, and an operation's own problems often have none.
        {"required", array{"title", "status"}}};
    object found{
        {"schemas", object{{"Problem", std::move(problem)}}},
        {"headers",
         object{
             {"Retry-After",
              header_of(
                  "Seconds until the same request may be sent again",
                  {{"type", "integer"}, {"minimum", 0}}
              )},
             {"Idempotent-Replayed",
              header_of(
                  "The stored answer of an earlier request with this key",
                  {{"type", "string"}, {"const", "true"}}
              )},
             {"Idempotency-Expires",
              header_of("Until when the answer is kept, as an HTTP date", {{"type", "string"}})}}}};
    if (!of.anonymous)
        found["securitySchemes"] =
            object{{"credentials", object{{"type", "http"}, {"scheme", "bearer"}}}};
    return found;
}

}  // namespace

std::string openapi(const Description& of, const std::vector<DescribedRoute>& routes) {
    object paths;
    for (const auto& route : routes) {
        auto& path = paths[route.pattern];
        if (!path.is_object()) path.emplace_object();
        path.get_object()[core::lower_text(route.method)] = operation_of(route, of);
    }
    object document{
        {"openapi", "3.1.0"},
        {"info", object{{"title", of.title}, {"version", of.version}}},
        {"paths", std::move(paths)},
        {"components", components(of)}};
    if (!of.anonymous) document["security"] = array{object{{"credentials", array{}}}};
    return boost::json::serialize(document);
}

}  // namespace pawl::http
