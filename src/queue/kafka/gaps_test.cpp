#include "src/queue/kafka/gaps.hpp"

#include <gtest/gtest.h>

namespace pawl::queue::kafka {

namespace {

using Runs = std::vector<Offsets>;

}  // namespace

TEST(Gaps, nothing_done_after_the_offset_is_written_as_an_empty_text) {
    EXPECT_EQ(write_gaps(10, 10, {}), "");
    EXPECT_EQ(write_gaps(10, 13, {10, 11, 12}), "");
}

TEST(Gaps, offsets_done_after_open_records_survive_a_round_trip) {
    const auto text = write_gaps(10, 25, {10, 11, 15});

    EXPECT_EQ(text, "1:2,3,1,9");
    EXPECT_EQ(read_gaps(10, text), (Runs{{12, 15}, {16, 25}}));
}

TEST(Gaps, offsets_after_the_last_done_one_are_open) {
    EXPECT_EQ(write_gaps(10, 15, {10, 12, 13, 14}), "1:1,1");
}

TEST(Gaps, offsets_that_do_not_fit_are_open_never_done) {
    std::vector<std::int64_t> open;
    for (std::int64_t offset = 0; offset < 10'000; offset += 2) open.push_back(offset);

    const auto text = write_gaps(0, 10'000, open, 100);

    EXPECT_LE(text.size(), 100);
    EXPECT_FALSE(read_gaps(0, text).empty());
    for (const auto& [from, to] : read_gaps(0, text)) {
        EXPECT_EQ(to, from + 1);
        EXPECT_EQ(from % 2, 1) << from << " is open";
    }
}

TEST(Gaps, a_text_of_another_format_is_ignored) {
    for (const auto* text :
         {"", "hello", "1:", "1:x", "1:2,x,1", "1:2,3x", "1:2,-3", "1:0,3", "2:2,3", "1:,"})
        EXPECT_TRUE(read_gaps(10, text).empty()) << text;
}

}  // namespace pawl::queue::kafka
