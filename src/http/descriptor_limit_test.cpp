#include "src/http/descriptor_limit.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>
#include <vector>

namespace pawl::http {
namespace {

TEST(ConnectionsOf, leaves_calls_and_the_database_their_descriptors) {
    struct Case {
        std::uint64_t descriptors;
        int connections_max;
        int calls_max;
        int connections;
    };
    const std::vector<Case> cases{
        {1'048'576, 4096, 1024, 4096},
        {20'000, 4096, 1024, 4096},
        {5376, 4096, 1024, 4096},  // Just enough.
        {5375, 4096, 1024, 4095},
        {2000, 4096, 1024, 1000},  // Half of all at least.
        {1024, 4096, 1024, 512},
        {1024, 100, 1024, 100},
        {1024, 4096, 16, 752},
        {0, 4096, 16, 1},
    };
    for (const auto& c : cases)
        EXPECT_EQ(connections_of(c.descriptors, c.connections_max, c.calls_max), c.connections)
            << c.descriptors << " " << c.connections_max << " " << c.calls_max;
}

// Issue 16, number 7.
TEST(ConnectionsWithinLimit, raises_the_soft_limit_and_warns_of_a_lower_number_of_connections) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit low{256, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    std::vector<base::Warning> warnings;
    const base::OnWarning keep = [&](const base::Warning& warning) { warnings.push_back(warning); };

    EXPECT_EQ(connections_within_limit(10, 16, keep), 10);
    rlimit now{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &now), 0);
    EXPECT_GT(now.rlim_cur, 256U);
    EXPECT_TRUE(warnings.empty());

    EXPECT_LT(connections_within_limit(10'000'000, 16, keep), 10'000'000);
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_EQ(warnings[0].code, "PAWL0014");
    EXPECT_NE(warnings[0].detail.find("instead of 10000000"), std::string::npos);
    setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace pawl::http
