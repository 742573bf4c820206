#include "src/core/trace_context.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pawl::core::trace_context_test {
namespace {

constexpr std::string_view example = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

std::string sent_on(std::string_view traceparent) {
    const auto read = TraceContext::from_headers(traceparent);
    return read ? std::string{read->traceparent()} : "malformed";
}

TEST(TraceContext, the_example_of_the_specification_is_read) {
    const auto read = TraceContext::from_headers(example);

    ASSERT_TRUE(read);
    EXPECT_EQ(read->trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
    EXPECT_EQ(read->span_id(), "00f067aa0ba902b7");
    EXPECT_TRUE(read->sampled());
    EXPECT_EQ(read->text(), example);
}

TEST(TraceContext, a_malformed_traceparent_is_none) {
    for (const auto* text :
         {"",
          "00",
          "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
          "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-011",
          "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
          "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what",
          "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
          "00-4bf92f3577b34da6a3ce929d0e0e4736-00F067AA0BA902B7-01",
          "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
          "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
          "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
          "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
          "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0A",
          "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
          "00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01",
          "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7_01",
          "0g-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
          "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
          "FF-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
          " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
          "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.what"})
        EXPECT_EQ(sent_on(text), "malformed") << text;
}

TEST(TraceContext, a_later_version_is_sent_on_as_ours) {
    for (const auto* text :
         {"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
          "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
          "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff-what-the-future-brings"})
        EXPECT_EQ(sent_on(text), example) << text;
}

TEST(TraceContext, unknown_flags_are_not_sent_on) {
    const std::string ids{example.substr(0, 53)};

    EXPECT_EQ(sent_on(ids + "ff"), ids + "01");
    EXPECT_EQ(sent_on(ids + "fe"), ids + "00");
    EXPECT_EQ(sent_on(ids + "09"), ids + "01");
}

TEST(TraceContext, a_child_has_its_parents_trace_flag_and_state) {
    const auto parent = TraceContext::from_headers(example, "a=1");

    const auto child = parent->child(0xabc);

    EXPECT_EQ(child.trace_id(), parent->trace_id());
    EXPECT_EQ(child.span_id(), "0000000000000abc");
    EXPECT_TRUE(child.sampled());
    EXPECT_EQ(child.tracestate(), "a=1");
}

TEST(TraceContext, the_ratio_of_recorded_traces_is_decided_by_the_trace_id) {
    const std::uint64_t half = std::uint64_t{1} << 55U;

    EXPECT_TRUE(TraceContext::root({7, half - 8}, 1, 0.5).sampled());
    EXPECT_FALSE(TraceContext::root({7, half}, 1, 0.5).sampled());
    EXPECT_FALSE(TraceContext::root({7, 0}, 1, 0).sampled());
    EXPECT_TRUE(TraceContext::root({7, ~std::uint64_t{0}}, 1, 1).sampled());
}

TEST(TraceContext, ids_of_zeros_are_not_made) {
    const auto root = TraceContext::root({0, 0}, 0, 1);

    EXPECT_EQ(sent_on(root.traceparent()), root.traceparent());
    EXPECT_EQ(sent_on(root.child(0).traceparent()), root.child(0).traceparent());
}

TEST(TraceContext, its_text_has_the_state) {
    const auto context = TraceContext::from_headers(example, " a=1 ,\tb=2 x ");

    EXPECT_EQ(context->text(), std::string{example} + " a=1,b=2 x");
    EXPECT_EQ(TraceContext::from_text(context->text()), context);
    EXPECT_EQ(TraceContext::from_text(example)->tracestate(), "");
    EXPECT_FALSE(TraceContext::from_text(""));
    EXPECT_FALSE(TraceContext::from_text("no trace a=1"));
}

TEST(Tracestate, a_malformed_one_is_dropped_and_the_trace_goes_on) {
    for (const std::string text :
         {"A=1",
          "a",
          "a=",
          "=1",
          "a =1",
          "a=1=2",
          "a=1,a=2",
          "a=1;b=2",
          "_a=1",
          "a=\x7f",
          "a=\xc3\xbc"}) {
        EXPECT_EQ(limited_tracestate(text), "") << text;
        EXPECT_TRUE(TraceContext::from_headers(example, text)) << text;
    }
    EXPECT_EQ(limited_tracestate(std::string(257, 'a') + "=1"), "");
    EXPECT_EQ(limited_tracestate("a=" + std::string(257, '1')), "");
}

TEST(Tracestate, empty_members_are_allowed_and_not_sent_on) {
    EXPECT_EQ(limited_tracestate(", a=1,, \t,fw529a3039@dt=FfAb*/,"), "a=1,fw529a3039@dt=FfAb*/");
    EXPECT_EQ(limited_tracestate(""), "");
}

TEST(Tracestate, has_at_most_32_members) {
    std::string text;
    for (int i = 0; i < 32; ++i) text += "k" + std::to_string(i) + "=v,";

    EXPECT_EQ(limited_tracestate(text) + ',', text);
    EXPECT_EQ(limited_tracestate(text + "one=more"), "");
}

TEST(Tracestate, of_more_than_512_characters_long_members_go_first_and_then_the_last_ones) {
    const auto long_one = "long=" + std::string(200, 'x');
    std::string shorter;
    for (int i = 10; i < 20; ++i)
        shorter += "k" + std::to_string(i) + "=" + std::string(46, 'v') + ',';
    const auto first_ten = shorter.substr(0, shorter.size() - 1);

    EXPECT_EQ(limited_tracestate(long_one + ',' + shorter), first_ten);
    EXPECT_EQ(limited_tracestate(shorter + "last=" + std::string(20, 'z')), first_ten);
}

}  // namespace
}  // namespace pawl::core::trace_context_test
