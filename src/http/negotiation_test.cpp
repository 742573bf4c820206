#include "src/http/negotiation.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pawl::http {
namespace {

constexpr auto of_browsers = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

RequestHead head(std::string method, std::vector<Header> headers) {
    RequestHead made;
    made.method = std::move(method);
    made.headers = std::move(headers);
    return made;
}

TEST(AsksForPage, depends_on_what_accept_prefers) {
    struct Case {
        std::string accept;
        bool page;
    };
    const std::vector<Case> cases{
        {of_browsers, true},
        {"Text/HTML", true},
        {"text/html;charset=utf-8", true},
        {"text/html, application/xhtml+xml, image/jxr, */*", true},  // Of Internet Explorer.
        {"text/*", true},
        {"application/json;q=0.9, text/html", true},
        {"text/html, application/json;q=0, */*", true},
        {"application/json, text/html", false},
        {"application/json, text/html;q=0.9", false},
        {"application/problem+json, text/html;q=0.9", false},
        {"text/html;q=0, */*;q=0.1", false},
        {"text/html;q=0", false},
        {"application/xhtml+xml", false},
        {"image/png", false},
        {"*/*", false},
        {"application/json", false},
        {"", false}};
    for (const auto& c : cases)
        EXPECT_EQ(asks_for_page(head("GET", {{"accept", c.accept}})), c.page) << c.accept;
    EXPECT_FALSE(asks_for_page(head("GET", {})));
    EXPECT_TRUE(asks_for_page(head("GET", {{"Accept", "text/html"}, {"Accept", "*/*;q=0.1"}})));
    EXPECT_FALSE(asks_for_page(head("GET", {{"Accept", "text/html;q=0.1"}, {"Accept", "*/*;q=0.2"}})
    ));
}

TEST(AsksForPage, is_false_for_what_no_navigation_and_no_form_sends) {
    struct Case {
        std::string name;
        std::string method;
        std::vector<Header> headers;
        bool page;
    };
    const std::string form = "application/x-www-form-urlencoded";
    const std::vector<Case> cases{
        {"navigation", "GET", {}, true},
        {"its HEAD", "HEAD", {}, true},
        {"navigation of a new browser", "GET", {{"Sec-Fetch-Mode", "navigate"}}, true},
        {"behind a proxy's password", "GET", {{"Authorization", "Basic amFuZTp4"}}, true},
        {"form", "POST", {{"Content-Type", form}}, true},
        {"form with files", "POST", {{"Content-Type", "multipart/form-data; boundary=a"}}, true},
        {"form as text", "POST", {{"Content-Type", "Text/Plain"}}, true},
        {"script", "GET", {{"Sec-Fetch-Mode", "cors"}}, false},
        {"script's form",
         "POST",
         {{"Content-Type", form}, {"Sec-Fetch-Mode", "same-origin"}},
         false},
        {"POST without a type", "POST", {}, false},
        {"XML", "POST", {{"Content-Type", "text/xml"}}, false},
        {"JSON", "POST", {{"Content-Type", "application/json"}}, false},
        {"JSON in a GET", "GET", {{"Content-Type", "application/json"}}, false},
        {"form in a GET's body", "GET", {{"Content-Type", form}}, false},
        {"key in a header", "POST", {{"Content-Type", form}, {"Idempotency-Key", "k"}}, false},
        {"token", "GET", {{"Authorization", "bearer a"}}, false},
        {"token of two",
         "GET",
         {{"Authorization", "Basic a"}, {"Authorization", "Bearer a"}},
         false},
        {"PUT", "PUT", {{"Content-Type", form}}, false},
        {"DELETE", "DELETE", {}, false}};
    for (const auto& c : cases) {
        auto headers = c.headers;
        headers.push_back({"Accept", of_browsers});
        EXPECT_EQ(asks_for_page(head(c.method, std::move(headers))), c.page) << c.name;
    }
}

}  // namespace
}  // namespace pawl::http
