#include "src/base/log.hpp"
#include "tests/simulation/exhaust.hpp"
#include "tests/simulation/fiber.hpp"
#include "tests/simulation/history.hpp"
#include "tests/simulation/shrink.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace pawl::simulation {
namespace {

using ::testing::ElementsAre;
using List = std::vector<std::uint8_t>;

class Simulation : public ::testing::Test {
protected:
    static void SetUpTestSuite() { log::open("/dev/null"); }  // Thousands of warnings are expected.
};

TEST_F(Simulation, no_history_breaks_an_invariant) {
    Ended all;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        Choices choices{seed};
        const auto ended = live(choices, {});
        ASSERT_FALSE(ended.violation) << "pawl-sim --seed " << seed << ": " << *ended.violation;
        all.crashes += ended.crashes;
        all.freezes += ended.freezes;
        all.clock_steps += ended.clock_steps;
        all.failed_commits += ended.failed_commits;
        all.jobs += ended.jobs;
        all.effects += ended.effects;
        all.expired += ended.expired;
        all.settled += ended.settled;
        all.restores += ended.restores;
    }
    // Each kind of event must have occurred.
    EXPECT_GT(all.crashes, 0);
    EXPECT_GT(all.freezes, 0);
    EXPECT_GT(all.clock_steps, 0);
    EXPECT_GT(all.failed_commits, 0);
    EXPECT_GT(all.jobs, 0);
    EXPECT_GT(all.effects, 0);
    EXPECT_GT(all.expired, 0);
    EXPECT_GT(all.settled, 0);
    EXPECT_GT(all.restores, 0);
}

// The checks once took these for violations: a hurried job that comes early; a job pushed twice of
// which one entry died while the other was done; a job that was cancelled during its call, and
// merged before the handler noticed; a bank that decides nothing for so long that a person is
// asked.
TEST_F(Simulation, no_check_is_stricter_than_the_promises) {
    for (const auto seed :
         {std::uint64_t{511'021},
          std::uint64_t{771'473},
          std::uint64_t{50'140'209},
          std::uint64_t{500'056'254}}) {
        Choices choices{seed};
        const auto ended = live(choices, {});
        EXPECT_FALSE(ended.violation) << "pawl-sim --seed " << seed << ": " << *ended.violation;
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

TEST_F(Simulation, choices_round_trip_as_text) {
    const List list{0, 1, 15, 16, 255};
    EXPECT_EQ(text_of(list), "00010f10ff");
    EXPECT_EQ(choices_of("00010f10ff"), list);
    EXPECT_THROW(choices_of("0"), std::invalid_argument);
    EXPECT_THROW(choices_of("0x"), std::invalid_argument);
}

TEST_F(Simulation, all_histories_of_a_small_world_keep_the_invariants) {
    const auto always = [](const Exhausted&) { return true; };

    const auto one = live_all({}, 1, always);
    const auto two = live_all({}, 2, always);

    ASSERT_FALSE(one.violation) << *one.violation;
    ASSERT_FALSE(two.violation) << *two.violation << " " << text_of(two.choices);
    EXPECT_GT(two.histories, 10 * one.histories);
    EXPECT_GT(two.states, one.states);
}

// Three choices of two, three and two: in order, and at most two non-quiet ones at once.
TEST(Exhaust, visits_every_list_with_few_non_quiet_choices_once) {
    const List highest{1, 2, 1};
    std::set<List> lists;
    std::optional<List> list{List{0, 0, 0}};
    while (list) {
        list->resize(highest.size());  // As a quiet history does.
        EXPECT_TRUE(lists.insert(*list).second) << text_of(*list);
        list = next_list(*list, highest, 2);
    }

    EXPECT_EQ(lists.size(), 1 + 4 + 5) << "with zero, one and two non-quiet choices";
    EXPECT_TRUE(lists.contains(List{1, 2, 0}));
    EXPECT_FALSE(lists.contains(List{1, 2, 1}));
}

TEST(Shrink, keeps_the_choices_that_matter) {
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

TEST(Fiber, continues_where_it_yielded_with_its_own_exceptions) {
    std::vector<std::string> seen;
    const auto body = [&](const std::string& name) {
        return [&seen, name] {
            try {
                throw std::runtime_error{name};
            } catch (const std::exception&) {
                Fiber::yield();
                try {
                    throw;  // Its own exception, although another fiber has caught one since.
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
    EXPECT_FALSE(Fiber::yield()) << "no fiber runs";
}

}  // namespace
}  // namespace pawl::simulation
