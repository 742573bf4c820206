#include "src/http/http_options.hpp"

#include <pawl/http.hpp>

#include "src/base/options.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

namespace pawl {
namespace {

using namespace std::chrono_literals;

HttpOptions with(TenantQuota quota) {
    HttpOptions options;
    options.authenticate = [](const RequestHead&) { return std::optional<Principal>{}; };
    options.quota = quota;
    return options;
}

TEST(TenantQuota, names_the_setting_that_is_wrong) {
    struct Case {
        TenantQuota quota;
        std::optional<std::string> problem;
    };
    const Case cases[] = {
        {{}, std::nullopt},
        {{.in_flight_max = 0}, std::nullopt},
        {{.in_flight_max = 1, .rate_per_s = 0.001, .burst = 1}, std::nullopt},
        {{.in_flight_max = -1}, "quota.in_flight_max is -1: at least 1, or 0 for no limit"},
        {{.account_in_flight_max = -1},
         "quota.account_in_flight_max is -1: at least 1, or 0 for no limit"},
        {{.in_flight_max = 4, .account_in_flight_max = 5},
         "quota.account_in_flight_max is 5, and in_flight_max of its tenant 4: at most that"},
        {{.rate_per_s = -1}, "quota.rate_per_s is -1.000000: 0.001 to 1000000, or 0 for no limit"},
        {{.rate_per_s = 2e6},
         "quota.rate_per_s is 2000000.000000: 0.001 to 1000000, or 0 for no limit"},
        {{.rate_per_s = std::numeric_limits<double>::quiet_NaN()},
         "quota.rate_per_s is nan: 0.001 to 1000000, or 0 for no limit"},
        {{.burst = 5}, "quota.burst is 5, but rate_per_s is not set: a burst needs a rate"},
        {{.rate_per_s = 1, .burst = 0}, "quota.burst is 0: 1 to 1000000"},
    };
    for (const auto& c : cases) EXPECT_EQ(with(c.quota).problem(), c.problem);
    EXPECT_THROW(base::checked(with({.in_flight_max = -1}), "quota"), std::invalid_argument);
}

TEST(QuotaRule, by_default_one_tenant_has_half_of_the_calls_and_no_rate) {
    const auto rule = http::quota_rule(with({}), 1'024);

    EXPECT_EQ(rule.in_flight_max, 512);
    EXPECT_EQ(rule.token_each, 0ns);
    EXPECT_EQ(http::quota_rule(with({}), 4).in_flight_max, 16);
    EXPECT_EQ(http::quota_rule(with({.in_flight_max = 0}), 1'024).in_flight_max, 0);
    EXPECT_EQ(http::quota_rule(with({.in_flight_max = 3}), 1'024).in_flight_max, 3);
}

// One account shut out the others of its tenant (issue 16, number 8).
TEST(QuotaRule, by_default_one_account_has_half_of_what_its_tenant_may_have) {
    EXPECT_EQ(http::quota_rule(with({}), 1'024).account_in_flight_max, 256);
    EXPECT_EQ(http::quota_rule(with({.in_flight_max = 3}), 1'024).account_in_flight_max, 2);
    EXPECT_EQ(http::quota_rule(with({.in_flight_max = 1}), 1'024).account_in_flight_max, 1);
    EXPECT_EQ(http::quota_rule(with({.in_flight_max = 0}), 1'024).account_in_flight_max, 0);
    EXPECT_EQ(http::quota_rule(with({.account_in_flight_max = 7}), 1'024).account_in_flight_max, 7);
    EXPECT_EQ(http::quota_rule(with({.account_in_flight_max = 0}), 1'024).account_in_flight_max, 0);
    EXPECT_EQ(http::quota_rule({.anonymous = true}, 1'024).account_in_flight_max, 0);
}

TEST(QuotaRule, a_single_anonymous_tenant_has_no_limit_by_default) {
    EXPECT_EQ(http::quota_rule({.anonymous = true}, 1'024).in_flight_max, 0);
}

TEST(QuotaRule, a_rate_is_never_rounded_up_and_its_burst_is_one_seconds_worth) {
    EXPECT_EQ(http::quota_rule(with({.rate_per_s = 3}), 1).token_each, 333'333'334ns);
    EXPECT_EQ(http::quota_rule(with({.rate_per_s = 3}), 1).burst, 3);
    EXPECT_EQ(http::quota_rule(with({.rate_per_s = 0.5}), 1).token_each, 2s);
    EXPECT_EQ(http::quota_rule(with({.rate_per_s = 0.5}), 1).burst, 1);
    EXPECT_EQ(http::quota_rule(with({.rate_per_s = 0.5, .burst = 9}), 1).burst, 9);
}

struct Nothing {
    static constexpr std::string_view name = "nothing";
};

std::string problem(HttpOptions options) {
    options.anonymous = true;
    return options.problem().value_or("none");
}

TEST(HttpOptions, name_the_option_that_is_out_of_range) {
    for (const int status : {400, 409, 422})
        EXPECT_EQ(problem({.key_reused_status = status}), "none") << status;
    EXPECT_EQ(problem({.connections_max = 0}), "connections_max is 0: at least 1");
    EXPECT_EQ(problem({.threads = 256}), "none");
    EXPECT_EQ(problem({.threads = -1}), "threads is -1: 1 to 256, or 0 for one a core");
    EXPECT_EQ(problem({.threads = 257}), "threads is 257: 1 to 256, or 0 for one a core");
}

TEST(HttpLimits, name_the_option_that_is_out_of_range) {
    struct Case {
        HttpLimits limits;
        std::string problem;
    };
    const std::vector<Case> cases{
        {{}, "none"},
        {{.line_max = 255}, "limits.line_max is 255: 256 to 61440"},
        {{.line_max = 61'441}, "limits.line_max is 61441: 256 to 61440"},
        {{.headers_max = 1'023}, "limits.headers_max is 1023: 1024 to 61440"},
        {{.headers_max = 61'440}, "none"},
        {{.headers_max = 61'441}, "limits.headers_max is 61441: 1024 to 61440"},
        {{.headers_count_max = 0}, "limits.headers_count_max is 0: 1 to 10000"},
        {{.headers_count_max = 10'001}, "limits.headers_count_max is 10001: 1 to 10000"},
        {{.body_max = 0}, "none"},
        {{.body_max = 67'108'865}, "limits.body_max is 67108865: 0 to 67108864"},
        {{.header_timeout = 0ms}, "limits.header_timeout is 0 ms: 1 to 86400000"},
        {{.body_rate_min = 0}, "none"},
        {{.body_grace = 25h}, "limits.body_grace is 90000000 ms: 1 to 86400000"},
        {{.write_timeout = -1ms}, "limits.write_timeout is -1 ms: 1 to 86400000"},
        {{.idle_timeout = 24h}, "none"},
    };
    for (const auto& c : cases) EXPECT_EQ(problem({.limits = c.limits}), c.problem);
}

TEST(HttpOptions, a_server_is_not_created_with_invalid_options) {
    const auto database = Database::open("memory:");
    Service service{*database};

    EXPECT_THROW((HttpServer{service, {}}), std::invalid_argument);
}

TEST(HttpServer, a_route_to_an_operation_that_was_not_added_is_refused_by_name) {
    const auto database = Database::open("memory:");
    Service service{*database};
    HttpServer server{service, {.listen = "127.0.0.1:0", .anonymous = true, .threads = 1}};

    try {
        server.post<Nothing>("/nothing");
        FAIL() << "it was accepted";
    } catch (const std::invalid_argument& refused) {
        EXPECT_STREQ(
            refused.what(),
            "pawl: route /nothing names the operation nothing: add it to the service first"
        );
    }
}

TEST(HttpOptions, are_refused_if_authenticate_is_not_set) {
    EXPECT_EQ(
        HttpOptions{}.problem(),
        "authenticate is not set: set it, or set anonymous = true if all clients may share one "
        "account"
    );
    EXPECT_EQ(HttpOptions{.anonymous = true}.problem(), std::nullopt);
    EXPECT_EQ(
        (HttpOptions{.anonymous = true, .key_reused_status = 418}.problem()),
        "key_reused_status is 418: 422, 409 or 400"
    );
}

}  // namespace
}  // namespace pawl
