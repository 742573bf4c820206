#include "src/http/routes.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pawl::http {
namespace {

Routes<int> some_routes() {
    Routes<int> routes;
    routes.add("GET", "/rides", 1);
    routes.add("POST", "/rides", 2);
    routes.add("GET", "/rides/{id}", 3);
    routes.add("DELETE", "/rides/{id}", 4);
    routes.add("POST", "/rides/{id}/refund", 5);
    routes.add("PUT", "/users/{email}/cards/{card}", 6);
    routes.add("GET", "/", 7);
    return routes;
}

std::string found(std::string_view method, std::string_view path) {
    const auto routes = some_routes();
    const auto result = routes.find(method, path);
    if (std::holds_alternative<Routes<int>::NotFound>(result)) return "404";
    if (const auto* other = std::get_if<Routes<int>::MethodNotAllowed>(&result))
        return "405 " + other->allow;
    const auto& match = std::get<Routes<int>::Match>(result);
    std::string text = std::to_string(*match.target);
    for (const auto& [name, value] : match.parameters)
        text.append(" ").append(name).append("=").append(value);
    return text;
}

TEST(Routes, find_added_routes) {
    EXPECT_EQ(found("GET", "/rides"), "1");
    EXPECT_EQ(found("POST", "/rides"), "2");
    EXPECT_EQ(found("GET", "/rides/17"), "3 id=17");
    EXPECT_EQ(found("DELETE", "/rides/a%20b"), "4 id=a b");
    EXPECT_EQ(found("POST", "/rides/17/refund"), "5 id=17");
    EXPECT_EQ(found("PUT", "/users/j@example.com/cards/2"), "6 email=j@example.com card=2");
    EXPECT_EQ(found("GET", "/"), "7");
}

TEST(Routes, serve_head_where_get_is_served) {
    EXPECT_EQ(found("HEAD", "/rides/17"), "3 id=17");
    EXPECT_EQ(found("HEAD", "/rides/17/refund"), "405 POST");
}

TEST(Routes, say_which_methods_a_path_has) {
    EXPECT_EQ(found("PUT", "/rides"), "405 GET, HEAD, POST");
    EXPECT_EQ(found("POST", "/rides/17"), "405 GET, HEAD, DELETE");
    EXPECT_EQ(found("get", "/rides"), "405 GET, HEAD, POST");  // Methods are case-sensitive.
}

TEST(Routes, an_escaped_slash_does_not_separate_segments) {
    EXPECT_EQ(found("GET", "/rides/1%2Frefund"), "3 id=1/refund");
    EXPECT_EQ(found("POST", "/rides/1%2frefund"), "405 GET, HEAD, DELETE");
    EXPECT_EQ(found("POST", "/rides%2F1/refund"), "404");
    EXPECT_EQ(found("GET", "/%72ides/%2531"), "3 id=%31");  // Decoded once.
}

TEST(Routes, a_method_is_named_once_even_if_several_patterns_match) {
    auto routes = some_routes();
    routes.add("GET", "/rides/today", 8);

    const auto result = routes.find("PUT", "/rides/today");

    ASSERT_TRUE(std::holds_alternative<Routes<int>::MethodNotAllowed>(result));
    EXPECT_EQ(std::get<Routes<int>::MethodNotAllowed>(result).allow, "GET, HEAD, DELETE");
}

TEST(Routes, an_unclosed_brace_is_literal_text) {
    Routes<int> routes;
    routes.add("GET", "/{id", 1);

    EXPECT_TRUE(std::holds_alternative<Routes<int>::NotFound>(routes.find("GET", "/17")));
    EXPECT_TRUE(std::holds_alternative<Routes<int>::Match>(routes.find("GET", "/{id")));
}

TEST(Routes, a_parameter_is_one_segment_that_is_not_empty) {
    for (const std::string path :
         {"/rides/",
          "/rides/17/",
          "/rides//refund",
          "/rides/1/2/refund",
          "//rides",
          "/Rides",
          "",
          "rides",
          "/rides/17/refund/"})
        EXPECT_EQ(found("POST", path), "404") << path;
}

}  // namespace
}  // namespace pawl::http
