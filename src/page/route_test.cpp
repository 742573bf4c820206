#include "src/page/route.hpp"

#include <gtest/gtest.h>

namespace pawl::page {
namespace {

TEST(RouteTest, an_id_is_one_segment) {
    EXPECT_EQ(match("/keys", "/keys"), "");
    EXPECT_EQ(match("/keys", "/keys/1"), std::nullopt);
    EXPECT_EQ(match("/keys/{id}", "/keys/17"), "17");
    EXPECT_EQ(match("/keys/{id}", "/keys/"), std::nullopt);
    EXPECT_EQ(match("/keys/{id}", "/keys/17/retry"), std::nullopt);
    EXPECT_EQ(match("/keys/{id}/retry", "/keys/17/retry"), "17");
    EXPECT_EQ(match("/keys/{id}/retry", "/keys//retry"), std::nullopt);
    EXPECT_EQ(match("/keys/{id}/retry", "/keys/retry"), std::nullopt);
}

}  // namespace
}  // namespace pawl::page
