#include <pawl/request_head.hpp>

#include <gtest/gtest.h>

namespace pawl {
namespace {

TEST(RequestHead, finds_a_header_without_case) {
    RequestHead head;
    head.headers = {{"Content-Type", "a"}, {"X-One", ""}};

    EXPECT_EQ(head.header("content-type"), "a");
    EXPECT_EQ(head.header("x-ONE"), "");
    EXPECT_EQ(head.header("Content-Typ"), std::nullopt);
    EXPECT_EQ(head.header("Content-Tape"), std::nullopt);
    EXPECT_EQ(head.header(""), std::nullopt);
}

TEST(RequestHead, a_header_that_stands_twice_is_no_header) {
    RequestHead head;
    head.headers = {{"Authorization", "Bearer a"}, {"authorization", "Bearer b"}};

    EXPECT_EQ(head.header("Authorization"), std::nullopt);
    EXPECT_EQ(head.count("AUTHORIZATION"), 2);
    EXPECT_EQ(head.count("Host"), 0);
}

}  // namespace
}  // namespace pawl
