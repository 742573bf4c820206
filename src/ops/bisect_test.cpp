#include "src/ops/bisect.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

namespace pawl::ops {
namespace {

// Items, some of which can't be removed, and a record of what happened.
class Things {
public:
    Things(int count, std::set<int> held) : batch_(static_cast<std::size_t>(count)), held_{held} {
        std::iota(batch_.begin(), batch_.end(), 0);
    }
    Bisected remove() {
        auto remove_all = [this](std::span<const int> some) {
            ++tries;
            const bool free = std::none_of(some.begin(), some.end(), [this](int n) {
                return held_.count(n) > 0;
            });
            if (free) removed.insert(removed.end(), some.begin(), some.end());
            return free;
        };
        return bisect(std::span<const int>{batch_}, remove_all);
    }
    // All but those that can't be removed, in order.
    std::vector<int> free() const {
        std::vector<int> others;
        for (const int n : batch_)
            if (held_.count(n) == 0) others.push_back(n);
        return others;
    }
    std::vector<int> removed{};
    int tries{0};

private:
    std::vector<int> batch_;
    std::set<int> held_;
};

TEST(Bisect, removes_a_batch_without_obstacles_in_one_try) {
    Things things{500, {}};

    const auto done = things.remove();

    EXPECT_EQ(done.removed, 500);
    EXPECT_EQ(done.left, 0);
    EXPECT_EQ(things.removed, things.free());
    EXPECT_EQ(things.tries, 1);
}

TEST(Bisect, an_empty_batch_is_not_tried) {
    Things things{0, {}};

    EXPECT_EQ(things.remove().removed, 0);
    EXPECT_EQ(things.tries, 0);
}

TEST(Bisect, leaves_only_the_item_that_cannot_be_removed_at_any_position) {
    for (int count = 1; count <= 17; ++count)
        for (int held = 0; held < count; ++held) {
            Things things{count, {held}};

            const auto done = things.remove();

            EXPECT_EQ(things.removed, things.free()) << held << " of " << count;
            EXPECT_EQ(done.removed, count - 1) << held << " of " << count;
            EXPECT_EQ(done.left, 1) << held << " of " << count;
        }
}

TEST(Bisect, counts_each_item_that_stays_and_removes_the_others_once) {
    for (unsigned which = 0; which < 1U << 9U; ++which) {
        std::set<int> held;
        for (int n = 0; n < 9; ++n)
            if ((which >> static_cast<unsigned>(n) & 1U) != 0) held.insert(n);
        Things things{9, held};

        const auto done = things.remove();

        EXPECT_EQ(things.removed, things.free()) << which;
        EXPECT_EQ(done.left, static_cast<int>(held.size())) << which;
        EXPECT_EQ(done.removed, 9 - done.left) << which;
    }
}

TEST(Bisect, one_fixed_item_in_500_costs_at_most_two_tries_per_halving) {
    for (int held = 0; held < 500; ++held) {
        Things things{500, {held}};

        (void)things.remove();

        EXPECT_LE(things.tries, 19) << held;
    }
}

}  // namespace
}  // namespace pawl::ops
