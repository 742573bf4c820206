#include "src/page/operators.hpp"

#include <gtest/gtest.h>

#include <variant>

namespace pawl::page {
namespace {

std::string problem(std::string_view text) {
    const auto parsed = Operators::parse(text);
    const auto* wrong = std::get_if<std::string>(&parsed);
    return wrong == nullptr ? "" : *wrong;
}

TEST(OperatorsTest, are_found_by_their_token_or_by_their_name) {
    const auto parsed = Operators::parse(
        "# on call\n"
        "ann admin 0123456789abcdef\n"
        "\n"
        "bob viewer sha256:9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e5641769290\n"
        "eve operator\n"
    );
    const auto& operators = std::get<Operators>(parsed);
    EXPECT_EQ(operators.by_token("0123456789abcdef"), (Operator{"ann", Role::admin}));
    EXPECT_EQ(operators.by_token("0123456789abcdeF"), std::nullopt);
    EXPECT_EQ(operators.by_token(""), std::nullopt);
    EXPECT_EQ(operators.by_name("eve"), (Operator{"eve", Role::operating}));
    EXPECT_EQ(operators.by_name("joe"), std::nullopt);
}

TEST(OperatorsTest, a_hash_in_the_file_is_no_token) {
    const auto text = std::string{"ann admin sha256:"} + std::string(64, 'a') + "\n";
    const auto operators = std::get<Operators>(Operators::parse(text));
    EXPECT_EQ(operators.by_token(std::string(64, 'a')), std::nullopt);
    EXPECT_EQ(operators.by_token("sha256:" + std::string(64, 'a')), std::nullopt);
}

TEST(OperatorsTest, an_error_names_its_line_and_never_the_token) {
    EXPECT_EQ(
        problem("ann admin\nbob boss 0123456789abcdef"),
        "line 2: the role is not viewer, operator or admin"
    );
    EXPECT_EQ(
        problem("ann admin short"),
        "line 1: a token has at least 16 characters; its hash is sha256: and 64 hex digits"
    );
    EXPECT_EQ(problem("ann admin a b"), "line 1: not NAME ROLE [TOKEN]");
    EXPECT_EQ(problem("ann admin\nann viewer"), "line 2: the name stands there twice");
    EXPECT_EQ(
        problem("ann admin 0123456789abcdef\nbob viewer 0123456789abcdef"),
        "line 2: the token is another operator's"
    );
    EXPECT_EQ(problem("# nobody\n"), "it names no operator: a line is NAME ROLE TOKEN");
}

}  // namespace
}  // namespace pawl::page
