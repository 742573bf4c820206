#include "src/redis/reply.hpp"

#include <gtest/gtest.h>

namespace pawl::redis {
namespace {

Reply integer() {
    return {.kind = Reply::Kind::integer, .integer = 1, .text = {}, .items = {}};
}
Reply text() {
    return {.kind = Reply::Kind::text, .integer = 0, .text = "t", .items = {}};
}
Reply list(std::vector<Reply> items) {
    return {.kind = Reply::Kind::list, .integer = 0, .text = {}, .items = std::move(items)};
}

TEST(Reply, has_the_shape_of_what_was_asked) {
    EXPECT_TRUE(has_shape(integer(), Shape::integer));
    EXPECT_TRUE(has_shape(list({integer(), integer()}), Shape::two_integers));
    EXPECT_TRUE(has_shape(list({}), Shape::integers));
    EXPECT_TRUE(has_shape(list({integer(), integer(), integer()}), Shape::integers));
    EXPECT_TRUE(has_shape(list({}), Shape::texts));
    EXPECT_TRUE(has_shape(list({text(), list({text(), text()})}), Shape::text_pairs));
    EXPECT_TRUE(has_shape(list({text(), text()}), Shape::two_texts));
    EXPECT_TRUE(has_shape(list({}), Shape::pairs));
    EXPECT_TRUE(has_shape(list({text(), text()}), Shape::pairs));
    EXPECT_TRUE(has_shape(list({text(), list({text(), text()}), text()}), Shape::time_pairs_time));
    EXPECT_TRUE(has_shape(Reply{}, Shape::any));
}

TEST(Reply, of_another_shape_is_not_read) {
    for (const auto shape :
         {Shape::integer,
          Shape::two_integers,
          Shape::texts,
          Shape::two_texts,
          Shape::pairs,
          Shape::text_pairs,
          Shape::time_pairs_time}) {
        EXPECT_FALSE(has_shape(Reply{}, shape));
        EXPECT_FALSE(has_shape(text(), shape));
        EXPECT_FALSE(has_shape(list({integer()}), shape));
        EXPECT_FALSE(has_shape(list({text(), integer()}), shape));
    }
    EXPECT_FALSE(has_shape(list({text()}), Shape::pairs));
    EXPECT_FALSE(has_shape(list({text(), list({text()}), text()}), Shape::time_pairs_time));
}

}  // namespace
}  // namespace pawl::redis
