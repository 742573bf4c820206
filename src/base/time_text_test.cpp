#include "src/base/time_text.hpp"

#include <gtest/gtest.h>

namespace pawl::base {
namespace {

TEST(TimeText, has_a_fixed_width_and_comes_back) {
    for (const std::int64_t ms :
         {0LL,
          1LL,
          951'782'399'999LL,
          951'782'400'000LL,
          1'795'206'845'123LL,
          4'102'444'799'999LL}) {
        const TimePoint at{std::chrono::milliseconds{ms}};

        EXPECT_EQ(time_text(at).size(), 24U);
        EXPECT_EQ(time_from_text(time_text(at)), at) << ms;
    }
    EXPECT_EQ(
        time_text(TimePoint{std::chrono::milliseconds{951'782'400'000LL}}),
        "2000-02-29T00:00:00.000Z"
    );
}

TEST(TimeText, refuses_text_that_is_not_a_time) {
    for (const char* text :
         {"",
          "2026-11-21",
          "2026-11-21T04:30:00Z",
          "2026-13-01T00:00:00.000Z",
          "2026-02-30T00:00:00.000Z",
          "2026-11-21T24:00:00.000Z",
          "2026-11-21T04:60:00.000Z",
          "2026-11-21T04:30:60.000Z",
          "2026-11-21 04:30:00.000Z",
          "-026-11-21T04:30:00.000Z",
          "2026-11-21T04:30:00.00xZ"})
        EXPECT_EQ(time_from_text(text), std::nullopt) << text;
}

}  // namespace
}  // namespace pawl::base
