#include "src/base/json_line.hpp"

#include "src/base/log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace pawl::log {
namespace {

TEST(JsonLine, of_a_long_text_the_beginning_is_written) {
    JsonLine line{TimePoint{}};
    line.add("detail", std::string(1'000'000, 'x'));

    EXPECT_LT(line.text().size(), 4'100U);
    EXPECT_NE(line.text().find("xxx...\"}"), std::string::npos);
}

TEST(JsonLine, characters_that_a_terminal_obeys_are_escaped) {
    JsonLine line{TimePoint{}};
    line.add("a", "\x1b[2J\u202e\u009b").add("b", "\u00e4\"");

    EXPECT_NE(
        line.text().find(R"("a":"\u001b[2J\u202e\u009b","b":")" "\u00e4\\\"\""), std::string::npos
    );
}

TEST(Log, each_line_is_counted_also_if_it_is_held_back) {
    for (int n = 0; n < 50; ++n) limited_warning("a_test_of_counts", {}, {});

    const auto counts = event_counts();
    const auto found = std::ranges::find(counts, "a_test_of_counts", &EventCount::event);
    ASSERT_NE(found, counts.end());
    EXPECT_EQ(found->count, 50U);
    EXPECT_EQ(found->level, "warning");
}

}  // namespace
}  // namespace pawl::log
