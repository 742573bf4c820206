#include "tests/simulation/mutants.hpp"

#include "src/base/log.hpp"
#include "src/core/mutant.hpp"
#include "tests/simulation/history.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <set>
#include <string>

namespace pawl::simulation {
namespace {

class Mutant : public ::testing::TestWithParam<std::string> {
protected:
    static void SetUpTestSuite() { log::open("/dev/null"); }
    ~Mutant() override { core::choose_mutant(""); }
};

// Each planted fault must be found, or the invariants have a gap.
TEST_P(Mutant, is_found) {
    constexpr int histories_max = 30'000;
    core::choose_mutant(GetParam());
    int lived = 0;
    std::optional<std::string> violation;
    while (!violation && lived < histories_max) {
        Choices choices{static_cast<std::uint64_t>(++lived)};
        violation = live(choices, {}).violation;
    }

    ASSERT_TRUE(violation) << "it survived " << lived << " histories";
    std::printf("found in history %d: %s\n", lived, violation->c_str());
    RecordProperty("histories", lived);
}

INSTANTIATE_TEST_SUITE_P(Planted, Mutant, ::testing::ValuesIn(all_mutants()), [](const auto& of) {
    return of.param;
});

TEST(Mutants, are_at_least_thirty) {
    EXPECT_GE(all_mutants().size(), 30U);
}

TEST(Mutants, in_the_program_are_all_tested) {
    const auto looked_for = all_mutants();
    std::set<std::string> found;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator{PAWL_SOURCE_DIR "/src"}) {
        if (!entry.is_regular_file()) continue;
        std::ifstream file{entry.path()};
        const std::string text{std::istreambuf_iterator<char>{file}, {}};
        const std::regex planted{R"-(PAWL_MUTANT\("(\w+)"\))-"};
        for (std::sregex_iterator at{text.begin(), text.end(), planted}, end; at != end; ++at)
            found.insert((*at)[1]);
    }

    EXPECT_GT(found.size(), 20U);
    for (const auto& name : found) EXPECT_TRUE(looked_for.contains(name)) << name;
}

}  // namespace
}  // namespace pawl::simulation
