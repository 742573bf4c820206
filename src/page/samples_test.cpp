#include "src/page/samples.hpp"

#include "src/page/plot.hpp"

#include <gtest/gtest.h>

#include <array>

namespace pawl::page {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint start{TimePoint{} + std::chrono::minutes{100}};

TEST(SamplesTest, counts_of_servers_are_added_and_counts_of_rows_are_not) {
    const std::array samples{
        StoredSample{start + 3s, {.requests = 5, .failed = 1, .p95_ms = 40, .open = 7}},
        StoredSample{start + 9s, {.requests = 2, .failed = 1, .p95_ms = 90, .open = 6}},
        StoredSample{start + 63s, {.requests = 1, .open = 2}}};
    const auto minutes = by_minute(samples);
    ASSERT_EQ(minutes.size(), 2U);
    EXPECT_EQ(minutes[0].at, start);
    EXPECT_EQ(minutes[0].sample.requests, 7);
    EXPECT_EQ(minutes[0].sample.failed, 2);
    EXPECT_EQ(minutes[0].sample.p95_ms, 90);
    EXPECT_EQ(minutes[0].sample.open, 7);
    EXPECT_EQ(minutes[1].sample.open, 2);
}

TEST(PlotTest, a_gap_breaks_the_line_and_the_largest_value_is_told) {
    const std::array points{
        PlotPoint{start, 0}, PlotPoint{start + 1min, 4}, PlotPoint{start + 10min, 2}};
    const auto text = plot("Jobs", points, start, start + 10min).markup();
    EXPECT_NE(text.find("d=\"M0,80L60,0M600,40\""), text.npos) << text;
    EXPECT_NE(text.find("Jobs: now 2, at most 4"), text.npos) << text;
}

TEST(PlotTest, without_points_it_says_so) {
    const auto text = plot("Jobs", {}, start, start + 10min).markup();
    EXPECT_NE(text.find("Jobs: now none yet, at most 0"), text.npos) << text;
}

}  // namespace
}  // namespace pawl::page
