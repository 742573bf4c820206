#include "planted_names.hpp"
#include "src/base/log.hpp"
#include "tests/simulation/history.hpp"
#include "tests/simulation/planted.hpp"
#include "tests/simulation/sql_mutants.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <optional>
#include <set>
#include <string>

namespace pawl::simulation {
namespace {

// Of the program (planted_faults.txt) and of the statements (sql_mutants.cpp).
std::set<std::string> all_mutants() {
    std::set<std::string> all{std::begin(planted_names), std::end(planted_names)};
    for (const auto& mutant : sql_mutants()) all.emplace(mutant.name);
    return all;
}

class Mutant : public ::testing::TestWithParam<std::string> {
protected:
    static void SetUpTestSuite() { log::open("/dev/null"); }
    ~Mutant() override { choose_fault(""); }
};

// Each planted fault must be found, or the invariants have a gap.
TEST_P(Mutant, is_found) {
    constexpr int histories_max = 30'000;
    choose_fault(GetParam());
    int lived = 0;
    std::optional<std::string> violation;
    while (!violation && lived < histories_max) {
        Choices choices{static_cast<std::uint64_t>(++lived)};
        violation = live(choices, {}).violation;
    }

    ASSERT_TRUE(violation) << "it survived " << lived << " histories";
    std::printf("found in history %d: %s\n", lived, violation->c_str());
    RecordProperty("histories", lived);
    if (const auto* broken = noted_assertion())
        std::printf("and breaks the assertion %s\n", broken);
}

INSTANTIATE_TEST_SUITE_P(Planted, Mutant, ::testing::ValuesIn(all_mutants()), [](const auto& of) {
    return of.param;
});

TEST(Mutants, are_at_least_thirty) {
    EXPECT_GE(all_mutants().size(), 30U);
}

// The copies are the product as long as no fault is chosen.
TEST(Mutants, do_nothing_until_they_are_chosen) {
    choose_fault("");
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Choices choices{seed};
        EXPECT_EQ(live(choices, {}).violation, std::nullopt) << "seed " << seed;
    }
    EXPECT_EQ(noted_assertion(), nullptr) << noted_assertion();
}

}  // namespace
}  // namespace pawl::simulation
