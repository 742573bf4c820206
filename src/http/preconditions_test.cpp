#include "src/http/preconditions.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pawl::http {
namespace {

// Issue 16, number 12.
TEST(RefuseConditions, refuses_changes_under_a_condition) {
    for (const std::string name :
         {"If-Match", "if-none-match", "IF-UNMODIFIED-SINCE", "If-None-Match"}) {
        RequestHead head;
        head.headers = {{name, "*"}};
        const auto refused = refuse_preconditions(head);
        ASSERT_TRUE(refused) << name;
        EXPECT_EQ(refused->status, 412);
        EXPECT_NE(refused->body.find("/errors/precondition-failed"), std::string::npos);
    }
}

TEST(RefuseConditions, accepts_requests_without_a_condition_on_a_change) {
    RequestHead head;
    EXPECT_FALSE(refuse_preconditions(head));
    head.headers = {{"If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"}, {"If-Range", "\"a\""}};
    EXPECT_FALSE(refuse_preconditions(head));
}

}  // namespace
}  // namespace pawl::http
