#include "src/base/text.hpp"
#include "src/json/document.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace pawl::json {

namespace {

std::string canonical_of(std::string_view json) {
    auto text = canonical_text(json);
    if (auto* problem = std::get_if<DecodeProblem>(&text))
        return "refused: " + problem->field + ": " + problem->why;
    return std::get<std::string>(text);
}

std::string nested(std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
}

}  // namespace

TEST(Canonical, writes_the_sample_of_rfc_8785_section_3_2_2) {
    EXPECT_EQ(
        canonical_of(R"({
          "numbers": [333333333.33333331, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
          "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
          "literals": [null, true, false]
        })"),
        R"({"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],)"
        R"("string":"€$\u000f\nA'B\"\\\\\"/"})"
    );
}

TEST(Canonical, sorts_as_the_sample_of_rfc_8785_section_3_2_3) {
    EXPECT_EQ(
        canonical_of(R"({
          "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
          "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
          "\u00f6": "Latin Small Letter O With Diaeresis"
        })"),
        "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\","
        "\"\u00f6\":\"Latin Small Letter O With Diaeresis\",\"\u20ac\":\"Euro Sign\","
        "\"\U0001F600\":\"Emoji: Grinning Face\",\"\uFB33\":\"Hebrew Letter Dalet With Dagesh\"}"
    );
}

TEST(Canonical, orders_names_by_utf16_code_units) {
    std::vector<std::string> expected = {
        "",
        "\x01",
        "A",
        "AA",
        "a",
        "\x7F",
        "\u0080",
        "\u07FF",
        "\u0800",
        "\uD7FF",
        "\U00010000",
        "\U0010FFFF",
        "\uE000",
        "\uFFFF"};
    auto sorted = expected;
    std::reverse(sorted.begin(), sorted.end());

    std::sort(sorted.begin(), sorted.end(), base::utf16_less);

    EXPECT_EQ(sorted, expected);
}

TEST(Canonical, escapes_only_what_must_be_escaped) {
    EXPECT_EQ(
        canonical_of(R"(["\u0000\u0001\b\t\n\u000b\f\r\u001f\u007f \"\\\/"])"),
        "[\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f\x7F \\\"\\\\/\"]"
    );
}

TEST(Canonical, one_number_has_one_form) {
    EXPECT_EQ(canonical_of("[1,1.0,1e0,10E-1,1.000]"), "[1,1,1,1,1]");
    EXPECT_EQ(canonical_of("[0,-0,0.0,-0.0,0e5]"), "[0,0,0,0,0]");
    EXPECT_EQ(canonical_of("[100,1e2,1E+2]"), "[100,100,100]");
}

TEST(Canonical, whole_numbers_beyond_2_to_53_keep_their_digits) {
    EXPECT_EQ(
        canonical_of(
            "[9007199254740993,-9223372036854775808,18446744073709551615,12345678901234567168.0]"
        ),
        "[9007199254740993,-9223372036854775808,18446744073709551615,12345678901234567168]"
    );
    EXPECT_EQ(canonical_of("12345678901234567000"), "12345678901234567000");
}

TEST(Canonical, a_canonical_text_is_its_own_canonical_form) {
    for (std::string_view text :
         {"{}", "[]", "null", R"({"a":[1,{"b":2}],"c":"é"})", "1e+30", "18446744073709552000"})
        EXPECT_EQ(canonical_of(text), text);
}

TEST(Parse, takes_32_levels_and_not_33) {
    EXPECT_EQ(canonical_of(nested(32)), nested(32));
    EXPECT_EQ(canonical_of(nested(33)), "refused: : Is nested deeper than 32 levels.");
    EXPECT_EQ(
        canonical_of(std::string(100'000, '[')), "refused: : Is nested deeper than 32 levels."
    );
}

TEST(Parse, names_the_place_of_a_duplicate) {
    EXPECT_EQ(
        canonical_of(R"({"a":1,"a":1})"), "refused: a: This name appears twice in one object."
    );
    EXPECT_EQ(
        canonical_of(R"({"a":{"x":[0,{"b":1,"c":2,"b":3}]}})"),
        "refused: a.x[1].b: This name appears twice in one object."
    );
    EXPECT_EQ(
        canonical_of(R"([{},{"":1,"":2}])"), "refused: [1].: This name appears twice in one object."
    );
    EXPECT_EQ(
        canonical_of(R"({"a":1,"\u0061":2})"), "refused: a: This name appears twice in one object."
    );
    EXPECT_EQ(canonical_of(R"({"a":{"a":1},"b":{"a":1}})"), R"({"a":{"a":1},"b":{"a":1}})");
}

TEST(Parse, finds_a_duplicate_among_very_many_names) {
    std::string json = "{";
    for (int i = 0; i < 50'000; ++i) json.append("\"n").append(std::to_string(i)).append("\":0,");

    EXPECT_EQ(
        canonical_of(json + R"("n49999":1})"),
        "refused: n49999: This name appears twice in one object."
    );
    EXPECT_EQ(canonical_of(json + R"("end":1})").size(), json.size() + 8);
}

TEST(Parse, names_the_place_of_a_bad_number) {
    EXPECT_EQ(
        canonical_of(R"({"a":[1,{"b":1e400}]})"),
        "refused: a[1].b: Is a number too large or too small for a double."
    );
    EXPECT_EQ(
        canonical_of(R"({"x":1,"id":12345678901234567890123})"),
        "refused: id: Is a whole number with more digits than can be held exactly."
    );
    EXPECT_EQ(
        canonical_of(R"({"x":[1e99999999999]})"),
        "refused: x[0]: Is a number too large or too small for a double."
    );
}

TEST(Parse, long_names_and_paths_are_cut_to_forty_characters) {
    std::string name(60, 'n');
    std::string wide = std::string(36, 'n') + "\u20ac\u20ac";

    EXPECT_EQ(
        canonical_of("{\"" + name + "\":1e400}"),
        "refused: " + std::string(37, 'n') + "...: Is a number too large or too small for a double."
    );
    EXPECT_EQ(
        canonical_of("{\"" + wide + "\":1,\"" + wide + "\":1}"),
        "refused: " + std::string(36, 'n') + "...: This name appears twice in one object."
    );
}

TEST(Parse, accepts_very_long_numbers_and_names) {
    std::string zeros(5'000, '0');
    std::string name(5'000, 'x');

    EXPECT_EQ(canonical_of("[0." + zeros + "1e5001]"), "[1]");
    EXPECT_EQ(
        canonical_of("{\"" + name + "\":\"" + name + "\"}"), "{\"" + name + "\":\"" + name + "\"}"
    );
}

TEST(Parse, refuses_u0000_only_on_request) {
    for (std::string_view json : {R"(["\u0000"])", R"({"a\u0000":1})", R"(["x\u0000y"])"}) {
        EXPECT_TRUE(std::holds_alternative<boost::json::value>(parse(json, Nul::allowed))) << json;
        EXPECT_TRUE(std::holds_alternative<DecodeProblem>(parse(json, Nul::refused))) << json;
    }
}

}  // namespace pawl::json
