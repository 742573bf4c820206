#include "src/core/backoff.hpp"

#include "src/core/completer_cap.hpp"
#include "src/core/retry_layers.hpp"

#include <gtest/gtest.h>

namespace pawl::core::backoff_test {
namespace {

using namespace std::chrono_literals;

const TimePoint now{10'000'000s};

TEST(CompleterBackoff, needs_both_the_runs_and_the_time_to_give_up) {
    const CompleterCap cap;

    EXPECT_TRUE(std::holds_alternative<NoMoreTries>(
        decide_after_completer_failure(cap, RunFailure::outage, 20, now - 24h, now, 0.5)
    ));
    EXPECT_TRUE(std::holds_alternative<TryAgainIn>(
        decide_after_completer_failure(cap, RunFailure::outage, 19, now - 90h, now, 0.5)
    ));
    EXPECT_TRUE(std::holds_alternative<TryAgainIn>(
        decide_after_completer_failure(cap, RunFailure::defect, 500, now - 23h, now, 0.5)
    ));
}

TEST(CompleterBackoff, grows_and_stays_between_half_and_all_of_its_wait) {
    const CompleterCap cap;
    auto wait = [&](int runs, double dice) {
        return std::get<TryAgainIn>(
                   decide_after_completer_failure(cap, RunFailure::outage, runs, now, now, dice)
        )
            .wait;
    };

    EXPECT_EQ(wait(1, 0.0), 5s);
    EXPECT_EQ(wait(2, 0.0), 10s);
    EXPECT_GE(wait(1, 0.999), 2500ms);
    EXPECT_EQ(wait(100, 0.0), 2h);
}

// A fixed release ends it, and no person can do more than wait for that.
TEST(CompleterBackoff, a_stored_result_is_tried_for_ever_and_each_ten_minutes) {
    const CompleterCap cap;
    const auto after = [&](RunFailure why) {
        return decide_after_completer_failure(cap, why, 1'000, now - 90 * 24h, now, 0.0);
    };

    EXPECT_EQ(std::get<TryAgainIn>(after(RunFailure::not_recorded)).wait, 10min);
    EXPECT_TRUE(std::holds_alternative<NoMoreTries>(after(RunFailure::defect)));
}

TEST(JobBackoff, steps_down_the_layers_and_is_never_early) {
    const std::vector<std::chrono::milliseconds> layers{10s, 1min};
    auto at = [&](int failures, double dice) {
        return std::get<TryAgainIn>(decide_after_job_failure(layers, failures, {}, dice)).wait;
    };

    EXPECT_EQ(at(1, 0.0), 10s);
    EXPECT_EQ(at(1, 0.999), 10999ms);
    EXPECT_EQ(at(2, 0.0), 1min);
    EXPECT_TRUE(std::holds_alternative<NoMoreTries>(decide_after_job_failure(layers, 3, {}, 0.0)));
}

TEST(JobBackoff, a_kind_with_attempts_of_its_own_ends_after_them) {
    const std::vector<std::chrono::milliseconds> layers{10s, 1min};
    const auto is_dead = [&](int failures, int attempts) {
        return std::holds_alternative<NoMoreTries>(
            decide_after_job_failure(layers, failures, attempts, 0.0)
        );
    };
    const auto wait = [&](int failures, int attempts) {
        return std::get<TryAgainIn>(decide_after_job_failure(layers, failures, attempts, 0.0)).wait;
    };

    EXPECT_TRUE(is_dead(1, 1));
    EXPECT_EQ(wait(1, 2), 10s);
    EXPECT_TRUE(is_dead(2, 2));
    EXPECT_EQ(wait(3, 5), 1min) << "the last layer is repeated";
    EXPECT_EQ(wait(4, 5), 1min);
    EXPECT_TRUE(is_dead(5, 5));
    EXPECT_TRUE(std::holds_alternative<NoMoreTries>(decide_after_job_failure({}, 1, 5, 0.0)))
        << "a queue without layers";
}

}  // namespace
}  // namespace pawl::core::backoff_test
