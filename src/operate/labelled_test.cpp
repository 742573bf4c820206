#include "src/operate/labelled.hpp"

#include <gtest/gtest.h>
#include <prometheus/counter.h>
#include <prometheus/registry.h>

namespace pawl::operate {
namespace {

class LabelledTest : public ::testing::Test {
protected:
    double value_of(const std::string& kind) {
        const auto families = registry.Collect();
        for (const auto& metric : families.front().metric)
            if (metric.label.front().value == kind) return metric.counter.value;
        return -1;
    }

    prometheus::Registry registry;
    prometheus::Family<prometheus::Counter>& family{
        prometheus::BuildCounter().Name("jobs_total").Register(registry)};
    Labelled<prometheus::Counter> jobs{
        family, {"kind"}, [](auto& of, const auto& labels) -> prometheus::Counter& {
            return of.Add(labels);
        }};
};

TEST_F(LabelledTest, one_series_for_each_value) {
    jobs.at({"mail"}).Increment();
    jobs.at({"mail"}).Increment();
    jobs.at({"pay"}).Increment();

    EXPECT_EQ(value_of("mail"), 2);
    EXPECT_EQ(value_of("pay"), 1);
}

// Kinds of jobs may come from other programs: their number has no limit of its own.
TEST_F(LabelledTest, more_values_than_series_max_are_counted_as_other) {
    constexpr auto most = Labelled<prometheus::Counter>::series_max;
    for (std::size_t i = 0; i < most + 5; ++i) jobs.at({std::to_string(i)}).Increment();
    jobs.at({"3"}).Increment();

    EXPECT_EQ(registry.Collect().front().metric.size(), most + 1);
    EXPECT_EQ(value_of("other"), 5);
    EXPECT_EQ(value_of("3"), 2);
}

}  // namespace
}  // namespace pawl::operate
