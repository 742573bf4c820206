#include "src/http/key_header.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pawl::http {
namespace {

std::string text_of(const KeyHeader& key) {
    if (std::holds_alternative<NoKey>(key)) return "none";
    if (const auto* problem = std::get_if<KeyProblem>(&key)) return "problem: " + problem->why;
    return "key: " + std::get<std::string>(key);
}

std::string of(std::vector<Header> headers) {
    RequestHead head;
    head.headers = std::move(headers);
    return text_of(key_header(head));
}

TEST(KeyHeader, quoted_and_bare_are_the_same_key) {
    EXPECT_EQ(of({{"Idempotency-Key", "8e03978e-40d5"}}), "key: 8e03978e-40d5");
    EXPECT_EQ(of({{"idempotency-key", "\"8e03978e-40d5\""}}), "key: 8e03978e-40d5");
    EXPECT_EQ(
        of({{"IDEMPOTENCY-KEY", "!#$%&'()*+-./:<=>?@[]^_`{|}~"}}),
        "key: !#$%&'()*+-./:<=>?@[]^_`{|}~"
    );
    EXPECT_EQ(of({{"X-Idempotency-Key", "x"}}), "none");
}

TEST(KeyHeader, refuses_keys_that_the_draft_or_pawl_does_not_allow) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"", "The key is empty."},
        {"\"\"", "The key is empty."},
        {"\"", "A key has no quotation marks or backslashes."},
        {"\"a", "A key has no quotation marks or backslashes."},
        {"a\"b", "A key has no quotation marks or backslashes."},
        {"\"a\\\\b\"", "A key has no quotation marks or backslashes."},
        {"a, b", "A request has one key, not a list."},
        {"\"a\", \"b\"", "A key has no quotation marks or backslashes."},
        {"a;v=1", "A key without quotation marks has no parameters."},
        {"\"a;v=1\"", "A key without quotation marks has no parameters."},
        {"a b", "A key consists of visible ASCII characters."},
        {"a\tb", "A key consists of visible ASCII characters."},
        {"k\xC3\xA4y", "A key consists of visible ASCII characters."},
        {"a\x7f", "A key consists of visible ASCII characters."},
        {std::string(256, 'k'), "The key has more than 255 characters."},
    };
    for (const auto& [text, why] : cases)
        EXPECT_EQ(of({{"Idempotency-Key", text}}), "problem: " + why) << text;
}

// Before, they were a problem.
TEST(KeyHeader, ignores_parameters_of_a_quoted_key) {
    for (const std::string parameters :
         {";v=1",
          "; v=1",
          ";v",
          ";*a.b-c_d=1;e=?0",
          ";v=\"x;y, \\\"z\"",
          ";v=:aGk=:",
          ";v=-1.5",
          ";v=%\"f%c3\"",
          ";v=@1659578233",
          ";v=text/html",
          ";a;b=2;   c"})
        EXPECT_EQ(of({{"Idempotency-Key", "\"abc\"" + parameters}}), "key: abc") << parameters;
    for (const std::string wrong :
         {";",
          ";V=1",
          ";=1",
          ";v=",
          " ;v=1",
          ";v =1",
          ";v=1, \"b\"",
          ";v=\"x",
          ";v=\"x\\",
          "v",
          ";v;",
          ";v=a b"})
        EXPECT_EQ(
            of({{"Idempotency-Key", "\"abc\"" + wrong}}),
            "problem: A key has no quotation marks or backslashes."
        ) << wrong;
    EXPECT_EQ(of({{"Idempotency-Key", "\"\";v=1"}}), "problem: The key is empty.");
}

TEST(KeyHeader, has_up_to_255_characters) {
    const std::string longest(255, 'k');

    EXPECT_EQ(of({{"Idempotency-Key", longest}}), "key: " + longest);
    EXPECT_EQ(of({{"Idempotency-Key", '"' + longest + '"'}}), "key: " + longest);
}

TEST(KeyHeader, two_headers_are_refused_even_if_they_are_equal) {
    EXPECT_EQ(
        of({{"Idempotency-Key", "k"}, {"idempotency-key", "k"}}),
        "problem: The request has more than one Idempotency-Key header."
    );
}

}  // namespace
}  // namespace pawl::http
