#include "src/client/servers.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <variant>
#include <vector>

namespace pawl::client::servers_test {
namespace {

using namespace std::chrono_literals;

constexpr core::SteadyTime start{1h};
using Said = Servers::Said;

using PassOrWait = std::variant<Servers::Pass, core::WaitForBreaker>;

Servers::Pass pass_of(const PassOrWait& way) {
    return std::get<Servers::Pass>(way);
}
std::chrono::milliseconds wait_of(const PassOrWait& way) {
    const auto* later = std::get_if<core::WaitForBreaker>(&way);
    return later == nullptr ? 0ms : later->wait;
}

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

TEST(Servers, only_the_failing_server_is_left_alone) {
    Servers servers{{}, {.failures_max = 2, .first = 1s}};
    for (int i = 0; i < 2; ++i) servers.ended("a", Said::failing, {}, start, 0);

    EXPECT_EQ(wait_of(servers.pass("a", start)), 1s);
    EXPECT_EQ(wait_of(servers.pass("b", start)), 0s);
    EXPECT_EQ(wait_of(servers.pass("a", start + 1s)), 0s);
    servers.ended("a", Said::well, {}, start + 1s, 0);
    EXPECT_EQ(wait_of(servers.pass("a", start + 1s)), 0s);
}

// Found by reading: a request that was never sent closed the breaker, and a stopped probe kept it
// open for as long as a probe may take.
TEST(Servers, a_try_without_a_result_lets_another_probe_go) {
    Servers servers{{}, {.failures_max = 1, .first = 1s, .probe_max = 60s}};
    servers.ended("a", Said::failing, {}, start, 0);
    const auto probe = pass_of(servers.pass("a", start + 1s));
    EXPECT_EQ(wait_of(servers.pass("a", start + 1s)), 1s);

    servers.ended("a", Said::nothing, probe, start + 1s, 0);

    EXPECT_EQ(wait_of(servers.pass("a", start + 1s)), 0s);
    EXPECT_EQ(wait_of(servers.pass("a", start + 1s)), 1s);
}

// Issue 16, number 22, found by reading: any request that ended took the probe's place.
TEST(Servers, only_the_probe_ends_the_probe) {
    for (const auto said : {Said::nothing, Said::failing}) {
        Servers servers{{}, {.failures_max = 1, .first = 1s, .longest = 1s, .probe_max = 10s}};
        const auto before = pass_of(servers.pass("a", start));
        servers.ended("a", Said::failing, {}, start, 0);
        const auto slow_probe = pass_of(servers.pass("a", start + 1s));

        servers.ended("a", said, before, start + 2s, 0);
        EXPECT_EQ(wait_of(servers.pass("a", start + 10s)), 1s);
        EXPECT_EQ(wait_of(servers.pass("a", start + 11s)), 0s);  // The first took too long.
        servers.ended("a", said, slow_probe, start + 12s, 0);
        EXPECT_EQ(wait_of(servers.pass("a", start + 20s)), 1s);
        EXPECT_EQ(wait_of(servers.pass("a", start + 21s)), 0s);
    }
}

TEST(Servers, each_server_has_its_own_budget_filled_by_successes) {
    Servers servers{{.each_success = 1, .per_s = 1, .burst = 1}, {}};

    EXPECT_EQ(servers.repeat("a", start, 1s), 0ms);
    EXPECT_EQ(servers.repeat("a", start, 500ms), std::nullopt);
    EXPECT_EQ(servers.repeat("b", start, 500ms), 0ms);
    servers.ended("a", Said::well, {}, start, 0);
    EXPECT_EQ(servers.repeat("a", start, 500ms), 0ms);
}

TEST(Servers, beyond_the_limit_only_servers_without_failures_are_forgotten) {
    Servers servers{{}, {.failures_max = 1, .first = 1h, .longest = 1h, .probe_max = 1h}};
    servers.ended("dead", Said::failing, {}, start, 0);

    for (std::size_t i = 0; i < 3 * Servers::known_max; ++i)
        servers.ended("s" + std::to_string(i), Said::well, {}, start, 0);

    EXPECT_EQ(wait_of(servers.pass("dead", start)), 1h);
}

}  // namespace
}  // namespace pawl::client::servers_test
