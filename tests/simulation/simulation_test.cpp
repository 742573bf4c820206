#include "src/core/mutant.hpp"
#include "src/engine/log.hpp"
#include "tests/simulation/fiber.hpp"
#include "tests/simulation/history.hpp"
#include "tests/simulation/shrink.hpp"

#include <gmock/gmock.h>

#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace pawl::simulation {
namespace {

using ::testing::ElementsAre;
using List = std::vector<std::uint8_t>;

class Simulation : public ::testing::Test {
protected:
    static void SetUpTestSuite() { log::open("/dev/null"); }  // Thousands of warnings, all wanted.
};

TEST_F(Simulation, no_history_breaks_an_invariant) {
    int crashes = 0, freezes = 0, failed_commits = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        Choices choices{seed};
        const auto ended = live(choices, {});
        ASSERT_FALSE(ended.violation) << "pawl-sim --seed " << seed << ": " << *ended.violation;
        crashes += ended.crashes;
        freezes += ended.freezes;
        failed_commits += ended.failed_commits;
    }
    EXPECT_GT(crashes, 0);
    EXPECT_GT(freezes, 0);
    EXPECT_GT(failed_commits, 0);
}

// Each repair that is left out must be found, or the invariants have a hole.
TEST_F(Simulation, every_planted_fault_is_found) {
    constexpr int histories_max = 20'000;
    for (const auto* mutant :
         {"no_fence",
          "key_of_each_attempt",
          "any_request_is_the_same",
          "doubt_is_done",
          "answer_though_not_kept",
          "no_completer"}) {
        core::choose_mutant(mutant);
        int lived = 0;
        std::optional<std::string> violation;
        while (!violation && lived < histories_max) {
            Choices choices{static_cast<std::uint64_t>(++lived)};
            violation = live(choices, {}).violation;
        }
        core::choose_mutant("");
        ASSERT_TRUE(violation) << mutant << " survives " << lived << " histories";
        std::printf("%-28s dies in history %d: %s\n", mutant, lived, violation->c_str());
    }
}

TEST_F(Simulation, the_same_choices_make_the_same_history) {
    HistoryOptions options;
    options.tells = true;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        Choices drawn{seed};
        const auto first = live(drawn, options);
        Choices again{drawn.taken()};
        const auto second = live(again, options);
        EXPECT_EQ(first.told, second.told) << seed;
        EXPECT_EQ(first.end_state, second.end_state) << seed;
    }
}

TEST_F(Simulation, choices_are_text_and_back) {
    const List list{0, 1, 15, 16, 255};
    EXPECT_EQ(text_of(list), "00010f10ff");
    EXPECT_EQ(choices_of("00010f10ff"), list);
    EXPECT_THROW(choices_of("0"), std::invalid_argument);
    EXPECT_THROW(choices_of("0x"), std::invalid_argument);
}

TEST(Shrink, leaves_what_matters) {
    const List long_one{9, 0, 3, 7, 1, 1, 5, 8, 8, 2};
    const auto fails = [](const List& list) {
        bool seven = false;
        for (const auto choice : list) {
            if (seven && choice == 5) return true;
            seven = seven || choice == 7;
        }
        return false;
    };

    EXPECT_THAT(shrunk(long_one, fails, 1'000), ElementsAre(7, 5));
}

TEST(Fiber, goes_on_where_it_yielded_with_the_exceptions_it_had) {
    std::vector<std::string> seen;
    const auto body = [&](const std::string& name) {
        return [&seen, name] {
            try {
                throw std::runtime_error{name};
            } catch (const std::exception&) {
                Fiber::yield();
                try {
                    throw;  // Its own, although another fiber has caught one since.
                } catch (const std::exception& mine) {
                    seen.emplace_back(mine.what());
                }
            }
        };
    };
    Fiber one{body("one")}, two{body("two")};

    one.resume();
    two.resume();
    one.resume();
    two.resume();

    EXPECT_TRUE(one.ended() && two.ended());
    EXPECT_THAT(seen, ElementsAre("one", "two"));
    EXPECT_FALSE(Fiber::yield()) << "nobody runs";
}

}  // namespace
}  // namespace pawl::simulation
