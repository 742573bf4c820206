#include <pawl/bearer_token.hpp>
#include <pawl/request_head.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// Issue 16, number 12; RFC 9110, 11.1 and 11.6.2.
TEST(RequestHead, a_bearer_token_follows_its_scheme_in_any_case_after_any_spaces) {
    struct Case {
        std::string value;
        std::optional<std::string_view> token;
    };
    const std::vector<Case> cases{
        {"Bearer a", "a"},
        {"bearer a", "a"},
        {"BEARER   a", "a"},
        {"Bearer a b", "a b"},
        {"Bearer", std::nullopt},
        {"Bearer  ", std::nullopt},
        {"Bearera", std::nullopt},
        {"Bearer\ta", std::nullopt},
        {"Basic a", std::nullopt},
        {"", std::nullopt},
    };
    for (const auto& c : cases) {
        RequestHead head;
        head.headers = {{"authorization", c.value}};
        EXPECT_EQ(bearer_token(head), c.token) << c.value;
    }
    EXPECT_EQ(bearer_token(RequestHead{}), std::nullopt);
}

TEST(RequestHead, a_repeated_header_is_not_found) {
    RequestHead head;
    head.headers = {{"Authorization", "Bearer a"}, {"authorization", "Bearer b"}};

    EXPECT_EQ(head.header("Authorization"), std::nullopt);
    EXPECT_EQ(head.count("AUTHORIZATION"), 2);
    EXPECT_EQ(head.count("Host"), 0);
}

}  // namespace
}  // namespace pawl
