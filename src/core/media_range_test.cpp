#include "src/core/media_range.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pawl::core {
namespace {

TEST(Preference, is_that_of_the_most_specific_range) {
    // The example of RFC 9110, 12.5.1.
    const std::string example =
        "text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, "
        "text/plain;format=fixed;q=0.4, */*;q=0.5";
    struct Case {
        std::string accept;
        std::string type;
        double weight;
    };
    const std::vector<Case> cases{
        {example, "text/plain;format=flowed", 1},
        {example, "text/plain", 0.7},
        {example, "text/html", 0.3},
        {example, "image/jpeg", 0.5},
        {example, "text/plain;format=fixed", 0.4},
        {example, "text/html;level=3", 0.3},
        {"*/*", "text/html", 1},
        {"text/html;q=0, */*", "text/html", 0},
        {"*/*, text/html;q=0", "text/html", 0},
        {"text/*;q=0, text/html", "text/html", 1},
        {"text/html;q=0.2, text/html;q=0.4", "text/html", 0.4},
        {"", "text/html", 0},
        {"application/json", "text/html", 0},
        {"application/xhtml+xml", "text/html", 0},
        {"text/htmlx, xtext/html, text, */html, text/h*", "text/html", 0},
    };
    for (const auto& c : cases)
        EXPECT_DOUBLE_EQ(preference(c.accept, c.type).weight, c.weight)
            << c.accept << " for " << c.type;
}

TEST(Preference, is_read_from_each_legal_form_of_a_range) {
    const std::vector<std::string> legal{
        "text/html;q=0.5",
        "TEXT/Html;Q=0.5",
        " \ttext/html \t; \tq=0.5\t ",
        ",, text/html;q=0.500,,",
        "text/html;;q=0.5;",
        "text/html;charset=UTF-8;q=0.5",
        R"(text/html;charset="utf-8";q=0.5)",
        "text/html;q=0.5;charset=utf-8",
        "a/b, text/html;q=0.5, c/d;q=0.9",
        R"(a/b;x=", text/html;q=1";q=0.1, text/html;q=0.5)",
        R"(a/b;x="\", text/html;q=1", text/html;q=0.5)",
    };
    for (const auto& accept : legal)
        EXPECT_DOUBLE_EQ(preference(accept, "text/html;charset=utf-8").weight, 0.5) << accept;
}

TEST(Preference, ignores_a_range_that_is_malformed_or_has_another_parameter) {
    const std::vector<std::string> other{
        "text/html;q=1.5",
        "text/html;q=-1",
        "text/html;q=",
        "text/html;q",
        "text/html;q=high",
        "text/html;q=nan",
        "text/html;q=1e0",
        "text/html;q=0.5x",
        R"(text/html;q="0.5")",
        "text/html;level=1",
        "text/html;charset=latin1",
        ";q=1",
        "*",
    };
    for (const auto& accept : other)
        EXPECT_DOUBLE_EQ(preference(accept + ", */*;q=0.1", "text/html;charset=utf-8").weight, 0.1)
            << accept;
    for (const auto* unclosed : {R"(text/html;x=", */*)", R"("text/html, */*)", R"(a/b;x="\, */*)"})
        EXPECT_DOUBLE_EQ(preference(unclosed, "text/html;charset=utf-8").weight, 0) << unclosed;
}

TEST(Preference, is_for_the_type_that_is_named_more_closely_if_weights_are_equal) {
    for (const std::string accept : {"text/html, */*", "*/*, text/*", "*/*;q=0.5, text/html;q=0.5"})
        EXPECT_GT(preference(accept, "text/html"), preference(accept, "application/json"))
            << accept;
    for (const std::string accept :
         {"*/*", "text/html, application/json", "", "image/png", "text/html;q=0"})
        EXPECT_EQ(preference(accept, "text/html"), preference(accept, "application/json"))
            << accept;
}

}  // namespace
}  // namespace pawl::core
