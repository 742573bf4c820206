#include "src/page/html.hpp"

#include <gtest/gtest.h>

namespace pawl::page {
namespace {

TEST(HtmlTest, no_text_becomes_markup) {
    const std::string evil = "<script>alert('&\"')</script>";
    const auto text = "&lt;script&gt;alert(&#39;&amp;&quot;&#39;)&lt;/script&gt;";
    EXPECT_EQ(Html{evil}.markup(), text);
    EXPECT_EQ(element("p", evil).markup(), std::string{"<p>"} + text + "</p>");
    EXPECT_EQ(
        empty_element("input", {{"value", evil}}).markup(),
        std::string{"<input value=\""} + text + "\">"
    );
}

// A browser would show a key that ends with its own reverse, or nothing at all.
TEST(HtmlTest, what_a_reader_would_not_see_is_written_out) {
    EXPECT_EQ((Html{"a\u202eb\x1b"}.markup()), "a\\u202eb\\u001b");
    EXPECT_EQ(
        empty_element("input", {{"value", "a\u202eb"}}).markup(), "<input value=\"a\u202eb\">"
    );
}

TEST(HtmlTest, markup_in_markup_is_not_escaped_again) {
    EXPECT_EQ(
        element("p", {link("/a?b=1&c=2", "a & b"), Html{" "}, element("b", "c")}).markup(),
        "<p><a href=\"/a?b=1&amp;c=2\">a &amp; b</a> <b>c</b></p>"
    );
}

}  // namespace
}  // namespace pawl::page
