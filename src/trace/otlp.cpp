#include "src/trace/otlp.hpp"

#include "src/base/error_text.hpp"
#include "src/base/text.hpp"
#include "src/json/members.hpp"

#include <algorithm>
#include <charconv>

namespace pawl::trace {

namespace {

// Needs no escape, as nearly all texts of spans. Without this a span takes 1.6 times as long.
bool is_plain(std::string_view text) {
    return std::ranges::all_of(text, [](char c) {
        return c >= ' ' && c <= '~' && c != '"' && c != '\\';
    });
}

// Appends members to an object, or values to a list.
class Json {
public:
    explicit Json(std::string& to) : to_{to} {}

    Json& open(std::string_view name, char bracket) {
        key(name);
        to_ += bracket;
        first_ = true;
        return *this;
    }
    Json& close(char bracket) {
        to_ += bracket;
        first_ = false;
        return *this;
    }
    Json& add(std::string_view name, std::string_view text) {
        key(name);
        if (is_plain(text))
            to_.append("\"").append(text).append("\"");
        else
            to_ += json::literal_of(base::is_utf8(text) ? text : base::sanitized_error(text));
        return *this;
    }
    Json& add_number(std::string_view name, std::int64_t number) {
        key(name);
        to_ += std::to_string(number);
        return *this;
    }

private:
    void key(std::string_view name) {
        if (!first_) to_ += ',';
        first_ = false;
        if (!name.empty()) to_.append("\"").append(name).append("\":");
    }

    std::string& to_;
    bool first_{true};
};

void add_attribute(Json& to, const Attribute& attribute) {
    to.open("", '{').add("key", attribute.name).open("value", '{');
    if (const auto* number = std::get_if<std::int64_t>(&attribute.value))
        to.add("intValue", std::to_string(*number));
    else
        to.add("stringValue", std::get<std::string>(attribute.value));
    to.close('}').close('}');
}

void add_ids(Json& to, const core::TraceContext& context) {
    to.add("traceId", context.trace_id()).add("spanId", context.span_id());
    if (!context.tracestate().empty()) to.add("traceState", context.tracestate());
    to.add_number("flags", context.sampled() ? 1 : 0);
}

void add_span(Json& to, const Span& span) {
    to.open("", '{');
    add_ids(to, span.here);
    if (!span.parent.empty()) to.add("parentSpanId", span.parent);
    to.add("name", span.name)
        .add_number("kind", static_cast<int>(span.kind))
        .add("startTimeUnixNano", std::to_string(span.began_ns))
        .add("endTimeUnixNano", std::to_string(span.ended_ns))
        .open("attributes", '[');
    for (const auto& attribute : span.attributes) add_attribute(to, attribute);
    to.close(']');
    if (span.link) {
        to.open("links", '[').open("", '{');
        add_ids(to, *span.link);
        to.close('}').close(']');
    }
    constexpr int error = 2;
    if (span.failed) to.open("status", '{').add_number("code", error).close('}');
    to.close('}');
}

}  // namespace

std::string otlp_request(std::span<const Span> spans, const Resource& resource) {
    std::string text;
    Json to{text};
    to.open("", '{').open("resourceSpans", '[').open("", '{').open("resource", '{');
    to.open("attributes", '[');
    add_attribute(to, {"service.name", resource.service});
    add_attribute(to, {"telemetry.sdk.name", "pawl"});
    add_attribute(to, {"telemetry.sdk.language", "cpp"});
    add_attribute(to, {"telemetry.sdk.version", resource.version});
    to.close(']').close('}').open("scopeSpans", '[').open("", '{');
    to.open("scope", '{').add("name", "pawl").add("version", resource.version).close('}');
    to.open("spans", '[');
    for (const auto& span : spans) add_span(to, span);
    to.close(']').close('}').close(']').close('}').close(']').close('}');
    return text;
}

std::int64_t rejected_spans(std::string_view body) {
    const auto answer = json::members_of(body);
    const auto partial = answer ? answer->find("partialSuccess") : std::nullopt;
    const auto members = partial ? json::members_of(*partial) : std::nullopt;
    auto count = members ? members->find("rejectedSpans") : std::nullopt;
    if (!count) return 0;
    const auto text = json::string_of(*count).value_or(std::string{*count});
    std::int64_t rejected = 0;
    std::from_chars(text.data(), text.data() + text.size(), rejected);
    return std::max<std::int64_t>(rejected, 0);
}

}  // namespace pawl::trace
