#include "src/page/providers.hpp"

#include <gtest/gtest.h>

namespace pawl::page {
namespace {

TEST(ProviderErrors, texts_that_differ_in_numbers_and_quotes_are_one_group) {
    const auto groups = grouped(
        {{"stripe", "timeout after 8123 ms, request 'req_1'", 2, "2027-01-15T08:00:00.000Z", 7},
         {"stripe", "HTTP 503", 1, "2027-01-15T08:00:09.000Z", 9},
         {"stripe", "timeout after 90 ms, request 'req_2'", 1, "2027-01-15T08:00:05.000Z", 8},
         {"bank", "timeout after 1 ms, request 'a'", 1, "2027-01-15T08:00:00.000Z", 6}}
    );

    ASSERT_EQ(groups.size(), 3U);
    EXPECT_EQ(groups[0].provider, "bank");
    EXPECT_EQ(groups[1].error, "timeout after # ms, request \"?\"");
    EXPECT_EQ(groups[1].count, 3);
    EXPECT_EQ(groups[1].last_at, "2027-01-15T08:00:05.000Z");
    EXPECT_EQ(groups[1].key_id, 8);
    EXPECT_EQ(groups[2].error, "HTTP 503");
}

TEST(ProviderErrors, no_errors_make_no_groups) {
    EXPECT_TRUE(grouped({}).empty());
}

}  // namespace
}  // namespace pawl::page
