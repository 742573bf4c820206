#include "src/core/death_rule.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pawl::core {

namespace {

using namespace std::chrono_literals;

std::string name_of(const DeathRule& rule) {
    if (std::holds_alternative<RunShared>(rule)) return "shared";
    if (std::holds_alternative<RunAlone>(rule)) return "alone";
    if (std::holds_alternative<NeverRun>(rule)) return "never";
    return "in " + std::to_string(std::get<RunLater>(rule).wait.count()) + " ms";
}

}  // namespace

TEST(DeathRule, decides_by_the_deaths_the_last_run_alone_and_the_age_of_the_server) {
    struct Case {
        const char* name;
        DeathFacts facts;
        const char* expected;
    };
    const Case cases[]{
        {"a new job", {}, "shared"},
        {"two deaths", {.deaths = 2}, "shared"},
        {"three deaths", {.deaths = 3, .server_age = 10s}, "alone"},
        {"three deaths, a new server", {.deaths = 3, .server_age = 0s}, "in 10000 ms"},
        {"three deaths, a young server", {.deaths = 3, .server_age = 9'999ms}, "in 1 ms"},
        {"it failed alone, and killed nothing",
         {.deaths = 3, .deaths_before_alone = 3, .server_age = 10s},
         "alone"},
        {"it killed a server alone", {.deaths = 4, .deaths_before_alone = 3}, "never"},
        {"it waited to run alone while servers died", {.deaths = 7, .server_age = 1h}, "alone"},
    };
    for (const auto& one : cases)
        EXPECT_EQ(name_of(decide_after_deaths(one.facts)), one.expected) << one.name;
}

}  // namespace pawl::core
