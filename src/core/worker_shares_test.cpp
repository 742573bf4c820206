#include "src/core/worker_shares.hpp"

#include <gtest/gtest.h>

namespace pawl::core::worker_shares_test {
namespace {

TEST(WorkersOfAKind, a_kind_holds_at_most_three_quarters_if_there_is_another) {
    EXPECT_EQ(workers_of_a_kind(16, 1), 16);
    EXPECT_EQ(workers_of_a_kind(16, 2), 12);
    EXPECT_EQ(workers_of_a_kind(4, 3), 3);
    EXPECT_EQ(workers_of_a_kind(2, 2), 1);
    EXPECT_EQ(workers_of_a_kind(1, 2), 1) << "a single worker works all kinds";
    EXPECT_EQ(workers_of_a_kind(0, 2), 1);
}

TEST(WorkersOfAKind, leaves_a_worker_for_the_others_wherever_there_are_two) {
    for (int workers = 2; workers <= 1'000; ++workers)
        EXPECT_LT(workers_of_a_kind(workers, 2), workers);
}

TEST(WorkersOfLayers, retries_have_half_as_many_workers_as_first_tries) {
    EXPECT_EQ(workers_of_layers(16, 5), (std::vector{2, 2, 2, 1, 1}));
    EXPECT_EQ(workers_of_layers(100, 3), (std::vector{17, 17, 16}));
}

TEST(WorkersOfLayers, each_layer_has_a_worker_of_its_own) {
    EXPECT_EQ(workers_of_layers(1, 5), (std::vector{1, 1, 1, 1, 1}));
    EXPECT_TRUE(workers_of_layers(16, 0).empty());
    EXPECT_TRUE(workers_of_layers(0, 5).empty()) << "a server without workers";
}

}  // namespace
}  // namespace pawl::core::worker_shares_test
