#include "src/json/form.hpp"

#include <gtest/gtest.h>

namespace pawl::json::form_test {

namespace {

std::string canonical_of(std::string_view text) {
    auto pairs = canonical_pairs(text);
    if (auto* problem = std::get_if<DecodeProblem>(&pairs))
        return "refused: " + problem->field + ": " + problem->why;
    return std::get<std::string>(pairs);
}

std::string fields(int count) {
    std::string text = "f=0";
    for (int i = 1; i < count; ++i) text.append("&f=").append(std::to_string(i));
    return text;
}

}  // namespace

TEST(ParsePairs, decodes_plus_signs_and_escapes) {
    auto pairs = parse_pairs("name=Ada+L%C3%B6w&q=1%2B1%3d2&flag&empty=&x=a=b&%6eame=z");

    ASSERT_TRUE(std::holds_alternative<std::vector<Pair>>(pairs));
    EXPECT_EQ(
        std::get<0>(pairs),
        (std::vector<Pair>{
            {"name", "Ada Löw"},
            {"q", "1+1=2"},
            {"flag", ""},
            {"empty", ""},
            {"x", "a=b"},
            {"name", "z"}})
    );
}

TEST(ParsePairs, an_empty_text_has_no_pair) {
    EXPECT_TRUE(std::get<0>(parse_pairs("")).empty());
}

TEST(ParsePairs, refuses_malformed_text) {
    struct Malformed {
        std::string text;
        std::string problem;
    };
    using namespace std::string_literals;
    const std::vector<Malformed> table = {
        {"a=%", "a: Has a broken % escape."},
        {"a=%4", "a: Has a broken % escape."},
        {"a=%4g", "a: Has a broken % escape."},
        {"a=%g4", "a: Has a broken % escape."},
        {"a=%%41", "a: Has a broken % escape."},
        {"a=% 41", "a: Has a broken % escape."},
        {"a=1&b=100%", "b: Has a broken % escape."},
        {"%=1", ": A name has a broken % escape."},
        {"a%2=1", ": A name has a broken % escape."},
        {"=1", ": A field without a name."},
        {"&", ": A field without a name."},
        {"a=1&", ": A field without a name."},
        {"&a=1", ": A field without a name."},
        {"a=1&&b=2", ": A field without a name."},
        {"a=%FF", "a: Is not UTF-8."},
        {"a=%C3", "a: Is not UTF-8."},
        {"a=%C0%80", "a: Is not UTF-8."},
        {"a=%ED%A0%80", "a: Is not UTF-8."},
        {"a=\xFF", "a: Is not UTF-8."},
        {"%FF=1", ": Is not UTF-8."},
        {"a=%00", "a: Holds the character U+0000."},
        {"a=x%00y", "a: Holds the character U+0000."},
        {"a%00=1", ": Holds the character U+0000."},
        {"a=x\0y"s, "a: Holds the character U+0000."},
        {std::string(50, 'n') + "=%", std::string(37, 'n') + "...: Has a broken % escape."},
        {fields(101), ": More than 100 fields."},
    };
    for (const auto& [text, problem] : table)
        EXPECT_EQ(canonical_of(text), "refused: " + problem) << text;
}

TEST(CanonicalPairs, sorts_by_name_and_keeps_the_order_of_equal_names) {
    EXPECT_EQ(canonical_of("b=2&a=9&b=1&a=3&c"), "a=9&a=3&b=2&b=1&c=");
    EXPECT_NE(canonical_of("b=1&b=2"), canonical_of("b=2&b=1"));
}

TEST(CanonicalPairs, encodes_each_text_in_one_way) {
    EXPECT_EQ(canonical_of("a=%7e%41+%2b%26%3D%c3%b6"), "a=~A%20%2B%26%3D%C3%B6");
    EXPECT_EQ(canonical_of("a=~A%20%2B%26%3D\u00f6"), "a=~A%20%2B%26%3D%C3%B6");
    EXPECT_EQ(canonical_of("a=1;b=2"), "a=1%3Bb%3D2");
    EXPECT_EQ(canonical_of("a=%2D%2E%5F%7E"), "a=-._~") << "what RFC 3986 has unreserved";
}

TEST(CanonicalPairs, takes_a_hundred_fields) {
    EXPECT_EQ(canonical_of(fields(100)), fields(100));
}

}  // namespace pawl::json::form_test
