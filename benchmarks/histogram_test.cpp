#include "benchmarks/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace pawl::bench {
namespace {

TEST(Histogram, without_values_returns_zero) {
    const Histogram empty;

    EXPECT_EQ(empty.at(0.5), 0U);
    EXPECT_EQ(empty.largest(), 0U);
}

TEST(Histogram, is_exact_below_64) {
    Histogram histogram;
    for (std::uint64_t value = 1; value <= 60; ++value) histogram.add(value);

    EXPECT_EQ(histogram.at(0.5), 30U);
    EXPECT_EQ(histogram.at(0.99), 60U);
    EXPECT_EQ(histogram.at(1.0), 60U);
}

TEST(Histogram, percentiles_of_any_size_are_off_by_at_most_one_part_in_64) {
    Histogram histogram;
    std::vector<std::uint64_t> values;
    std::uint64_t state = 1;
    for (int n = 0; n < 100'000; ++n) {
        state = state * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
        values.push_back(state >> (state % 50));  // Over fifty octaves.
        histogram.add(values.back());
    }
    std::sort(values.begin(), values.end());

    for (const double share : {0.01, 0.5, 0.9, 0.99, 0.999}) {
        const auto place = static_cast<std::size_t>(share * static_cast<double>(values.size())) - 1;
        const auto exact = static_cast<double>(values[place]);
        const auto said = static_cast<double>(histogram.at(share));
        EXPECT_GE(said, exact) << share;
        EXPECT_LE(said, exact * (1.0 + 1.0 / 64) + 1) << share;
    }
}

TEST(Histogram, one_slow_value_in_a_hundred_is_only_in_the_last_percentile) {
    Histogram histogram;
    for (int n = 0; n < 99; ++n) histogram.add(1'000);
    histogram.add(1'000'000);

    EXPECT_LE(histogram.at(0.99), 1'015U);
    EXPECT_EQ(histogram.at(0.995), 1'000'000U);
}

TEST(Histogram, accepts_the_largest_number) {
    Histogram histogram;
    histogram.add(~std::uint64_t{0});

    EXPECT_EQ(histogram.at(0.5), ~std::uint64_t{0});
}

}  // namespace
}  // namespace pawl::bench
