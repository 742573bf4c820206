#include "src/trace/otlp.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pawl::trace {
namespace {

const Resource rides{.service = "rides", .version = "0.1.0"};

core::TraceContext context(std::string_view span, std::string_view state = {}) {
    return *core::TraceContext::from_headers(
        "00-4bf92f3577b34da6a3ce929d0e0e4736-" + std::string{span} + "-01", state
    );
}

// The part of a request that is a list of spans.
std::string spans_of(const std::vector<Span>& spans) {
    const auto text = otlp_request(spans, rides);
    const auto from = text.find("\"spans\":") + 8;
    return text.substr(from, text.size() - from - std::string{"}]}]}"}.size());
}

TEST(Otlp, a_request_has_its_resource_and_scope) {
    EXPECT_EQ(
        otlp_request({}, rides),
        R"({"resourceSpans":[{"resource":{"attributes":[)"
        R"({"key":"service.name","value":{"stringValue":"rides"}},)"
        R"({"key":"telemetry.sdk.name","value":{"stringValue":"pawl"}},)"
        R"({"key":"telemetry.sdk.language","value":{"stringValue":"cpp"}},)"
        R"({"key":"telemetry.sdk.version","value":{"stringValue":"0.1.0"}}]},)"
        R"("scopeSpans":[{"scope":{"name":"pawl","version":"0.1.0"},"spans":[]}]}]})"
    );
}

TEST(Otlp, a_span_has_what_it_needs_and_no_more) {
    const Span span{
        .here = context("00f067aa0ba902b7"), .name = "phase started", .began_ns = 1, .ended_ns = 2};

    EXPECT_EQ(
        spans_of({span}),
        R"([{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7","flags":1,)"
        R"("name":"phase started","kind":1,"startTimeUnixNano":"1","endTimeUnixNano":"2",)"
        R"("attributes":[]}])"
    );
}

TEST(Otlp, a_span_has_its_parent_link_state_attributes_and_failure) {
    const Span span{
        .here = context("00f067aa0ba902b7", "a=1"),
        .parent = "1111111111111111",
        .link = context("2222222222222222"),
        .name = "call \"x\"",
        .kind = SpanKind::client,
        .began_ns = 1'795'250'000'123'456'789,
        .ended_ns = 1'795'250'000'123'456'790,
        .attributes = {{"n", std::int64_t{-7}}, {"t", std::string{"\xff"}}},
        .failed = true};

    const std::string expected =
        R"([{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7",)"
        R"("traceState":"a=1","flags":1,"parentSpanId":"1111111111111111","name":"call \"x\"",)"
        R"("kind":3,"startTimeUnixNano":"1795250000123456789",)"
        R"("endTimeUnixNano":"1795250000123456790","attributes":[{"key":"n","value":)"
        R"x({"intValue":"-7"}},{"key":"t","value":{"stringValue":"?"}}],"links":[)x"
        R"({"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"2222222222222222","flags":1}],)"
        R"("status":{"code":2}},{"traceId")";
    EXPECT_EQ(spans_of({span, span}).substr(0, expected.size()), expected);
}

TEST(Otlp, the_spans_that_a_collector_rejected_are_counted) {
    EXPECT_EQ(rejected_spans(R"({"partialSuccess":{"rejectedSpans":"3","errorMessage":"no"}})"), 3);
    EXPECT_EQ(rejected_spans(R"({"partialSuccess":{"rejectedSpans":4}})"), 4);
    for (const auto* none :
         {"",
          "{}",
          "no JSON",
          R"({"partialSuccess":{}})",
          R"({"partialSuccess":null})",
          R"({"partialSuccess":{"rejectedSpans":"-1"}})"})
        EXPECT_EQ(rejected_spans(none), 0) << none;
}

}  // namespace
}  // namespace pawl::trace
