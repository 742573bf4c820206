#include "src/client/servers.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pawl::client {
namespace {

using namespace std::chrono_literals;

constexpr core::SteadyTime start{1h};
using Said = Servers::Said;

TEST(ServerOf, is_scheme_host_and_port_in_one_form) {
    struct Case {
        std::string url;
        std::string server;
    };
    const std::vector<Case> cases{
        {"http://a/b?c", "http://a:80"},
        {"HTTPS://API.Example.com", "https://api.example.com:443"},
        {"https://a:8443/b:c", "https://a:8443"},
        {"http://me:secret@a/b@c", "http://a:80"},
        {"http://[::1]/b", "http://[::1]:80"},
        {"http://[::1]:8080/b", "http://[::1]:8080"},
        {"http://a?b://c", "http://a:80"},
        {"nonsense", "nonsense"},
    };
    for (const auto& c : cases) EXPECT_EQ(server_of(c.url), c.server) << c.url;
}

TEST(Servers, one_that_fails_is_left_alone_and_no_other) {
    Servers servers{{}, {.failures_max = 2, .first = 1s}};
    for (int i = 0; i < 2; ++i) servers.ended("a", Said::failing, start, 0);

    EXPECT_EQ(servers.pass("a", start), 1s);
    EXPECT_EQ(servers.pass("b", start), std::nullopt);
    EXPECT_EQ(servers.pass("a", start + 1s), std::nullopt);
    servers.ended("a", Said::well, start + 1s, 0);
    EXPECT_EQ(servers.pass("a", start + 1s), std::nullopt);
}

// Found by reading: one that was never sent closed the breaker, and a probe that was stopped kept
// it open for as long as a probe may take.
TEST(Servers, a_try_that_says_nothing_leaves_the_breaker_to_the_next_probe) {
    Servers servers{{}, {.failures_max = 1, .first = 1s, .probe_max = 60s}};
    servers.ended("a", Said::failing, start, 0);
    EXPECT_EQ(servers.pass("a", start + 1s), std::nullopt);
    EXPECT_EQ(servers.pass("a", start + 1s), 1s);

    servers.ended("a", Said::nothing, start + 1s, 0);

    EXPECT_EQ(servers.pass("a", start + 1s), std::nullopt);
    EXPECT_EQ(servers.pass("a", start + 1s), 1s);
}

TEST(Servers, each_has_a_budget_of_its_own_that_successes_fill) {
    Servers servers{{.each_success = 1, .per_s = 1, .burst = 1}, {}};

    EXPECT_EQ(servers.repeat("a", start, 1s), 0ms);
    EXPECT_EQ(servers.repeat("a", start, 500ms), std::nullopt);
    EXPECT_EQ(servers.repeat("b", start, 500ms), 0ms);
    servers.ended("a", Said::well, start, 0);
    EXPECT_EQ(servers.repeat("a", start, 500ms), 0ms);
}

TEST(Servers, are_forgotten_where_they_are_too_many_but_for_those_in_trouble) {
    Servers servers{{}, {.failures_max = 1, .first = 1h, .longest = 1h, .probe_max = 1h}};
    servers.ended("dead", Said::failing, start, 0);

    for (std::size_t i = 0; i < 3 * Servers::known_max; ++i)
        servers.ended("s" + std::to_string(i), Said::well, start, 0);

    EXPECT_EQ(servers.pass("dead", start), 1h);
}

}  // namespace
}  // namespace pawl::client
