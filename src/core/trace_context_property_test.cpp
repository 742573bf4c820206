#include "src/core/trace_context.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

namespace pawl::core::trace_context_property_test {
namespace {

// A traceparent that is right, or nearly: some characters of a right one are replaced.
std::string nearly_right() {
    std::string text{"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"};
    const auto hits = *rc::gen::inRange(0, 3);
    for (int i = 0; i < hits; ++i) {
        const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
        text[at] = *rc::gen::elementOf(std::string{"0123456789abcdefgF-_ "});
    }
    const auto cut = *rc::gen::inRange<std::size_t>(50, 56);
    return text.substr(0, cut) + *rc::gen::element<std::string>("", "", "-", "-x", "0");
}

bool right(const std::string& text) {
    const auto hex = [&](std::size_t from, std::size_t count) {
        return std::all_of(
            text.begin() + long(from),
            text.begin() + long(from + count),
            [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }
        );
    };
    const auto zeros = [&](std::size_t from, std::size_t count) {
        return text.substr(from, count) == std::string(count, '0');
    };
    if (text.size() < 55 || !hex(0, 2) || !hex(3, 32) || !hex(36, 16) || !hex(53, 2)) return false;
    if (text[2] != '-' || text[35] != '-' || text[52] != '-') return false;
    if (zeros(3, 32) || zeros(36, 16) || text.starts_with("ff")) return false;
    return text.size() == 55 || (!text.starts_with("00") && text[55] == '-');
}

RC_GTEST_PROP(TraceContextLaws, exactly_what_the_specification_allows_is_read, ()) {
    const auto text = nearly_right();

    const auto read = TraceContext::from_headers(text);

    RC_ASSERT(read.has_value() == right(text));
    if (!read) return;
    RC_ASSERT(read->trace_id() == text.substr(3, 32));
    RC_ASSERT(read->span_id() == text.substr(36, 16));
    RC_ASSERT(TraceContext::from_headers(read->traceparent()) == read);
}

RC_GTEST_PROP(
    TraceContextLaws, no_bytes_end_the_process, (const std::string& any, const std::string& state)
) {
    const auto read = TraceContext::from_headers(any, state);

    RC_ASSERT(!read || any.size() >= TraceContext::length);
    RC_ASSERT(!TraceContext::from_text(any) || any.size() >= TraceContext::length);
}

RC_GTEST_PROP(TraceContextLaws, what_is_sent_on_is_within_the_limits_and_stays_as_it_is, ()) {
    const auto member = rc::gen::apply(
        [](const std::string& key, const std::string& value) { return 'k' + key + '=' + value; },
        rc::gen::container<std::string>(rc::gen::elementOf(std::string{"abz09_-*/@"})),
        rc::gen::container<std::string>(rc::gen::elementOf(std::string{"aZ9 ;:!~=,"}))
    );
    std::string state;
    for (const auto& one : *rc::gen::container<std::vector<std::string>>(member))
        state += one + ',';

    const auto kept = limited_tracestate(state);

    RC_ASSERT(kept.size() <= 512);
    RC_ASSERT(std::ranges::count(kept, ',') < 32);
    RC_ASSERT(limited_tracestate(kept) == kept);
}

RC_GTEST_PROP(
    TraceContextLaws,
    roots_and_children_are_right,
    (std::uint64_t a, std::uint64_t b, std::uint64_t span)
) {
    const auto root = TraceContext::root({a, b}, span, 0.5);

    RC_ASSERT(TraceContext::from_headers(root.traceparent()) == root);
    RC_ASSERT(TraceContext::from_headers(root.child(a).traceparent()) == root.child(a));
}

}  // namespace
}  // namespace pawl::core::trace_context_property_test
