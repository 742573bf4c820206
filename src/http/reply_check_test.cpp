#include "src/http/reply_check.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pawl::http {
namespace {

// Before, the headers of queries, public pages, before_key and present were sent unchecked; those
// of operations have long been checked where they are stored.
TEST(ReplyCheck, headers_that_would_split_a_response_are_not_sent) {
    struct Case {
        Reply reply;
        std::string problem;
    };
    const std::vector<Case> cases{
        {{.status = 101}, "its status is 101: 200 to 599"},
        {{.status = 600}, "its status is 600: 200 to 599"},
        {{.headers = {{"Location", "/a\r\nSet-Cookie: x=y"}}},
         "the header Location has a control character"},
        {{.headers = {{"X-Name", "a\nb"}}}, "the header X-Name has a control character"},
        {{.headers = {{"X-Name", std::string(1, '\0')}}},
         "the header X-Name has a control character"},
        {{.headers = {{"X: y\r\nZ", "v"}}}, "the name of a header is not a valid token"},
        {{.headers = {{"", "v"}}}, "the name of a header is not a valid token"},
        {{.headers = {{"content-length", "0"}}}, "it must not set the header content-length"},
        {{.headers = {{"Transfer-Encoding", "chunked"}}},
         "it must not set the header Transfer-Encoding"},
        {{.headers = {{"Connection", "close"}}}, "it must not set the header Connection"}};
    for (const auto& c : cases) {
        EXPECT_EQ(problem_of(c.reply).value_or("it may be sent"), c.problem);
        EXPECT_EQ(sendable(c.reply, "/a").status, 500) << c.problem;
    }
}

TEST(ReplyCheck, other_replies_are_sent_unchanged) {
    const Reply reply{
        .status = 299,
        .headers = {{"X-Name", "a\tb \xC3\xA9"}, {"Set-Cookie", "a=b"}, {"Set-Cookie", "c=d"}},
        .body = std::string(2, '\0')};

    EXPECT_FALSE(problem_of(reply));
    const auto sent = sendable(reply, {});
    EXPECT_EQ(sent.status, 299);
    EXPECT_EQ(sent.headers.size(), 3U);
    EXPECT_EQ(sent.body.size(), 2U);
}

}  // namespace
}  // namespace pawl::http
