#include "src/base/running_code.hpp"

#include "src/base/testing/still_clock.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <thread>

namespace pawl::base {

namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Where = RunningCode::Where;

std::vector<std::string> names(RunningCode& code) {
    std::vector<std::string> found;
    for (const auto& one : code.list()) found.push_back(one.name);
    return found;
}

}  // namespace

TEST(RunningCode, is_listed_by_another_thread_with_its_time_and_limit_until_it_ends) {
    StillClock clock;
    RunningCode code{clock};
    {
        const RunningCode::Run run{
            &code,
            {.where = Where::transaction,
             .name = "book_ride",
             .step = "started",
             .key_id = 17,
             .limit = 5s}};
        clock.at += 7s;
        std::vector<RunningCode::Seen> seen;
        std::thread{[&] { seen = code.list(); }}.join();

        ASSERT_EQ(seen.size(), 1);
        EXPECT_EQ(seen[0].where, Where::transaction);
        EXPECT_EQ(seen[0].name, "book_ride");
        EXPECT_EQ(seen[0].step, "started");
        EXPECT_EQ(seen[0].key_id, 17);
        EXPECT_EQ(seen[0].ran, 7s);
        EXPECT_EQ(seen[0].limit, 5s);
        EXPECT_NE(seen[0].thread, "");
    }
    EXPECT_THAT(code.list(), IsEmpty());
}

TEST(RunningCode, ends_in_any_order) {
    RunningCode code;
    std::optional<RunningCode::Run> first, second, third;
    first.emplace(&code, RunningCode::Label{.name = "first"});
    second.emplace(&code, RunningCode::Label{.name = "second"});
    third.emplace(&code, RunningCode::Label{.name = "third"});
    EXPECT_THAT(names(code), ElementsAre("first", "second", "third"));

    second.reset();
    EXPECT_THAT(names(code), ElementsAre("first", "third"));
    third.reset();
    EXPECT_THAT(names(code), ElementsAre("first"));
    third.emplace(&code, RunningCode::Label{.name = "fourth"});
    first.reset();
    EXPECT_THAT(names(code), ElementsAre("fourth"));
    third.reset();
    EXPECT_THAT(names(code), IsEmpty());
}

TEST(RunningCode, without_a_list_nothing_is_registered) {
    const RunningCode::Run run{nullptr, {.name = "a test of one step"}};
}

}  // namespace pawl::base
