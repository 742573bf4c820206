#include "src/http/request_id.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace pawl::http {
namespace {

std::string id_of(std::vector<Header> headers) {
    RequestHead head;
    head.headers = std::move(headers);
    return request_id_of(head);
}

TEST(RequestId, is_the_clients_if_that_is_short_and_visible) {
    EXPECT_EQ(id_of({{"x-request-id", "req_7/a"}}), "req_7/a");
    const std::string longest(64, 'a');
    EXPECT_EQ(id_of({{"X-Request-Id", longest}}), longest);
}

TEST(RequestId, of_a_trace_is_the_trace_id) {
    const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    const Header traced{"traceparent", "00-" + trace + "-00f067aa0ba902b7-01"};

    EXPECT_EQ(id_of({traced}), trace);
    EXPECT_EQ(id_of({traced, {"X-Request-Id", "own"}}), "own");
}

TEST(RequestId, is_made_here_if_the_clients_is_odd) {
    std::set<std::string> made;
    const std::vector<std::vector<Header>> odd{
        {},
        {{"X-Request-Id", ""}},
        {{"X-Request-Id", std::string(65, 'a')}},
        {{"X-Request-Id", "a b"}},
        {{"X-Request-Id", "a\x7f"}},
        {{"X-Request-Id", "\xc3\xb6"}},
        {{"traceparent", "00-00000000000000000000000000000000-00f067aa0ba902b7-01"}},
        {{"traceparent", "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"}},
        {{"traceparent", "00-4bf92f35"}}};
    for (const auto& headers : odd) {
        const auto id = id_of(headers);
        EXPECT_EQ(id.find_first_not_of("0123456789abcdef-"), id.npos) << id;
        EXPECT_LE(id.size(), 64U);
        made.insert(id);
    }
    EXPECT_EQ(made.size(), odd.size()) << "each request has its own";
}

TEST(Caller, has_the_state_of_all_its_lines) {
    RequestHead head;
    head.headers = {
        {"TraceParent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
        {"tracestate", "a=1"},
        {"Tracestate", "b=2, c=3"}};

    const auto caller = caller_of(head);

    ASSERT_TRUE(caller);
    EXPECT_EQ(caller->span_id(), "00f067aa0ba902b7");
    EXPECT_EQ(caller->tracestate(), "a=1,b=2,c=3");
}

TEST(Caller, with_two_traceparents_is_none) {
    RequestHead head;
    for (int i = 0; i < 2; ++i)
        head.headers.push_back(
            {"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}
        );

    EXPECT_FALSE(caller_of(head));
}

TEST(RequestId, is_never_the_key) {
    for (const std::string key : {"my-key", "\"my-key\""}) {
        const auto id = id_of({{"X-Request-Id", "my-key"}, {"Idempotency-Key", key}});
        EXPECT_EQ(id.find("my-key"), id.npos) << id;
    }
}

}  // namespace
}  // namespace pawl::http
