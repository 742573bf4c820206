#include "tests/fences/condition_edits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pawl::fences {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> texts(std::string_view statement) {
    std::vector<std::string> all;
    for (const auto& edit : condition_edits(statement)) all.push_back(edit.text);
    return all;
}

TEST(ConditionEdits, a_comparison_is_dropped_and_its_operator_moved) {
    EXPECT_THAT(
        texts("UPDATE t SET a = b WHERE c = $1"),
        ElementsAre(
            "UPDATE t SET a = b WHERE (c = $1 OR 1 = 1)",
            "UPDATE t SET a = b WHERE c <= $1",
            "UPDATE t SET a = b WHERE c >= $1"
        )
    );
    EXPECT_THAT(
        texts("DELETE FROM t WHERE c < $1"),
        ElementsAre("DELETE FROM t WHERE (c < $1 OR 1 = 1)", "DELETE FROM t WHERE c <= $1")
    );
}

TEST(ConditionEdits, a_literal_keeps_its_operator_and_an_or_loses_each_side) {
    EXPECT_THAT(
        texts("SELECT a FROM t WHERE b = 'x' AND (c IS NULL OR d > 2)"),
        ElementsAre(
            "SELECT a FROM t WHERE b = 'x' AND  c IS NULL OR d > 2 ",
            "SELECT a FROM t WHERE b = 'x' AND ((c IS NULL OR 1 = 1) OR d > 2)",
            "SELECT a FROM t WHERE b = 'x' AND ((c IS NULL AND 1 = 0) OR d > 2)",
            "SELECT a FROM t WHERE b = 'x' AND (c IS NULL OR (d > 2 OR 1 = 1))",
            "SELECT a FROM t WHERE b = 'x' AND (c IS NULL OR (d > 2 AND 1 = 0))",
            "SELECT a FROM t WHERE b = 'x' AND (c IS NULL OR d >= 2)",
            "SELECT a FROM t WHERE (b = 'x' OR 1 = 1) AND (c IS NULL OR d > 2)",
            "SELECT a FROM t WHERE b = 'x' AND ((c IS NULL OR d > 2) OR 1 = 1)"
        )
    );
}

TEST(ConditionEdits, a_select_within_a_condition_has_its_own) {
    EXPECT_THAT(
        texts("DELETE FROM t WHERE id IN (SELECT id FROM u WHERE at BETWEEN $1 AND $2 LIMIT $3)"),
        ElementsAre(
            "DELETE FROM t WHERE id IN (SELECT id FROM u WHERE (at BETWEEN $1 AND $2 OR 1 = 1) "
            "LIMIT $3)",
            "DELETE FROM t WHERE (id IN (SELECT id FROM u WHERE at BETWEEN $1 AND $2 LIMIT $3) OR "
            "1 = 1)"
        )
    );
    EXPECT_THAT(texts("INSERT INTO t (a) VALUES ($1) ON CONFLICT DO NOTHING"), IsEmpty());
}

}  // namespace
}  // namespace pawl::fences
