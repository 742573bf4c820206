#include "src/ops/overdue_code.hpp"

#include "src/base/testing/still_clock.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace pawl::ops::overdue_code_test {

namespace {}  // namespace

TEST(OverdueCode, is_reported_once_when_it_is_beyond_its_limit_and_again_each_minute) {
    base::StillClock clock;
    base::RunningCode code{clock};
    OverdueCode overdue{code, clock};
    std::optional<base::RunningCode::Run> run;
    run.emplace(&code, base::RunningCode::Label{.name = "spins", .limit = 5s});
    clock.at += 5s + overdue_grace;
    EXPECT_EQ(overdue.run_once(), 0) << "it is being stopped";

    clock.at += 1ms;

    EXPECT_EQ(overdue.run_once(), 1);
    EXPECT_EQ(overdue.run_once(), 0);
    clock.at += 1min - 1ms;
    EXPECT_EQ(overdue.run_once(), 0);
    clock.at += 1ms;
    EXPECT_EQ(overdue.run_once(), 1);
    run.reset();
    EXPECT_EQ(overdue.run_once(), 0);
}

TEST(OverdueCode, names_the_job_or_the_key) {
    EXPECT_EQ(subject_of({.jid = "0123", .key_id = 17}), "job 0123");
    EXPECT_EQ(subject_of({.key_id = 17}), "key 17");
    EXPECT_EQ(subject_of({}), "");
}

}  // namespace pawl::ops::overdue_code_test
