#include "apps/rides/pages/sessions.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace rides {
namespace {

using namespace std::chrono_literals;

const pawl::TimePoint noon{std::chrono::seconds{1'800'000'000}};
constexpr auto id = "0123456789abcdef0123456789abcdef";

Riders riders_of(const std::vector<std::string>& lines) {
    Riders riders;
    for (const auto& line : lines) riders.add(line);
    return riders;
}

pawl::RequestHead head_with(std::vector<pawl::Header> headers) {
    pawl::RequestHead head;
    head.headers = std::move(headers);
    return head;
}
pawl::RequestHead head_with(const std::string& cookies) {
    return head_with({{"Cookie", cookies}});
}

// The "name=value" part of a Set-Cookie.
std::string pair_of(const std::string& set_cookie) {
    return set_cookie.substr(0, set_cookie.find(';'));
}

struct Set {
    Riders riders{riders_of({"token_jane jane@example.com", "token_joe joe@example.com"})};
    EndedSessions ended;
    Sessions sessions{"a secret", "", riders, ended};
    std::string cookie{pair_of(*sessions.begin({"jane@example.com", "token_jane"}, id, noon))};
};

TEST(Sessions, a_cookie_identifies_its_rider_until_it_expires) {
    const Set s;

    const auto found = s.sessions.find(head_with("a=b; " + s.cookie + "; c=d"), noon + 11h);

    ASSERT_TRUE(found);
    EXPECT_EQ(found->principal.account, "jane@example.com");
    EXPECT_EQ(found->form_token.size(), 64U);
    EXPECT_TRUE(s.sessions.find(head_with(s.cookie), noon + 12h - 1s));
    EXPECT_FALSE(s.sessions.find(head_with(s.cookie), noon + 12h));
    EXPECT_TRUE(s.sessions.find(head_with(s.cookie), noon - 5min));
    EXPECT_FALSE(s.sessions.find(head_with(s.cookie), noon - 6min));
}

TEST(Sessions, a_session_needs_a_rider_and_ends_when_its_token_is_removed) {
    const Set s;
    const Sessions without_jane{"a secret", "", riders_of({"token_joe jane@example.com"}), s.ended};

    EXPECT_FALSE(s.sessions.begin({"jane@example.com", "no token"}, id, noon));
    EXPECT_FALSE(s.sessions.begin({"jane@example.com", ""}, id, noon));
    EXPECT_FALSE(s.sessions.begin({"joe@example.com", "token_jane"}, id, noon)) << "another's";
    EXPECT_FALSE(without_jane.find(head_with(s.cookie), noon));
}

// Before, only the cookie was removed (issue 16, number 10).
TEST(Sessions, an_ended_session_is_invalid_and_the_riders_others_stay_valid) {
    Set s;
    const auto other = pair_of(*s.sessions.begin(
        {"jane@example.com", "token_jane"}, "00000000000000000000000000000000", noon
    ));

    s.ended.end(s.sessions.find(head_with(s.cookie), noon)->session);

    EXPECT_FALSE(s.sessions.find(head_with(s.cookie), noon));
    EXPECT_TRUE(s.sessions.find(head_with(other), noon));
}

TEST(Sessions, a_cookie_with_any_changed_character_is_invalid) {
    const Set s;
    for (std::size_t i = s.cookie.find('=') + 1; i < s.cookie.size(); ++i) {
        auto forged = s.cookie;
        forged[i] = forged[i] == '1' ? '2' : '1';
        EXPECT_FALSE(s.sessions.find(head_with(forged), noon)) << forged;
    }
    EXPECT_FALSE((Sessions{"another secret", "", s.riders, s.ended}.find(head_with(s.cookie), noon))
    );
    for (const std::string bad :
         {"", "rides_session=", "rides_session=.", "rides_session=...", "=", ";;;"})
        EXPECT_FALSE(s.sessions.find(head_with(bad), noon)) << bad;
    EXPECT_FALSE(s.sessions.find(head_with(s.cookie + "; " + s.cookie), noon))
        << "two cookies with one name";
    EXPECT_FALSE(s.sessions.find(head_with("rides_session=" + std::string(8'000, '1')), noon));
}

TEST(Sessions, a_form_token_is_valid_for_one_session_only) {
    const Set s;
    const auto token = s.sessions.find(head_with(s.cookie), noon)->form_token;
    const auto other = pair_of(*s.sessions.begin(
        {"jane@example.com", "token_jane"}, "00000000000000000000000000000000", noon
    ));

    EXPECT_EQ(s.sessions.find(head_with(s.cookie), noon + 1h)->form_token, token);
    EXPECT_NE(s.sessions.find(head_with(other), noon)->form_token, token);
    EXPECT_EQ(s.cookie.find(token), std::string::npos);
    EXPECT_EQ(s.cookie.find("token_jane"), std::string::npos);
    EXPECT_EQ(s.cookie.find("jane@"), std::string::npos);
}

TEST(Sessions, cookies_are_secure_if_a_site_is_set) {
    const Set s;
    const Sessions secure{"a secret", "https://rides.example", s.riders, s.ended};

    const auto plain = *s.sessions.begin({"jane@example.com", "token_jane"}, id, noon);
    const auto made = *secure.begin({"jane@example.com", "token_jane"}, id, noon);

    EXPECT_NE(plain.find("; Path=/; HttpOnly; SameSite=Lax; Max-Age=43200"), std::string::npos);
    EXPECT_EQ(plain.find("Secure"), std::string::npos);
    EXPECT_TRUE(made.starts_with("__Host-rides_session="));
    EXPECT_TRUE(made.ends_with("; Path=/; HttpOnly; SameSite=Lax; Max-Age=43200; Secure"));
    EXPECT_TRUE(secure.find(head_with(pair_of(made)), noon));
    EXPECT_FALSE(secure.find(head_with(s.cookie), noon)) << "a cookie planted over HTTP";
    EXPECT_TRUE(secure.end().ends_with("; Max-Age=0; Secure"));
}

TEST(Sessions, a_request_from_another_site_is_foreign) {
    struct Case {
        std::string name;
        std::vector<pawl::Header> headers;
        bool foreign;
        std::string site{};
    };
    const std::vector<Case> cases{
        {"no browser", {}, false},
        {"our own page", {{"Sec-Fetch-Site", "same-origin"}}, false},
        {"typed in by the rider", {{"Sec-Fetch-Site", "none"}}, false},
        {"another site", {{"Sec-Fetch-Site", "cross-site"}}, true},
        {"another port or a neighbour", {{"Sec-Fetch-Site", "same-site"}}, true},
        {"said twice", {{"Sec-Fetch-Site", "none"}, {"Sec-Fetch-Site", "none"}}, true},
        {"an old browser, our own page", {{"Host", "a:1"}, {"Origin", "http://a:1"}}, false},
        {"an old browser, another port", {{"Host", "a:1"}, {"Origin", "http://a:2"}}, true},
        {"an origin that is not told", {{"Host", "a:1"}, {"Origin", "null"}}, true},
        {"behind a proxy",
         {{"Host", "10.0.0.1"}, {"Origin", "https://r.example"}},
         false,
         "https://r.example"},
        {"the same by HTTP", {{"Origin", "http://r.example"}}, true, "https://r.example"},
    };
    const EndedSessions ended;
    for (const auto& c : cases)
        EXPECT_EQ(
            (Sessions{"s", c.site, Riders{}, ended}.is_foreign(head_with(c.headers))), c.foreign
        ) << c.name;
}

TEST(SameText, compares_like_operator_equal) {
    EXPECT_TRUE(same_text("", ""));
    EXPECT_TRUE(same_text("abc", "abc"));
    EXPECT_FALSE(same_text("abc", "abd"));
    EXPECT_FALSE(same_text("abc", "ab"));
    EXPECT_FALSE(same_text("", "a"));
}

TEST(SiteProblem, is_found_in_all_but_https_and_a_host) {
    for (const auto* good : {"", "https://rides.example", "https://rides.example:8443"})
        EXPECT_EQ(site_problem(good), std::nullopt) << good;
    for (const auto* bad :
         {"http://rides.example",
          "rides.example",
          "https://",
          "https://a/b",
          "https://a/",
          "https://u@a",
          "https://a?b",
          "x"})
        EXPECT_NE(site_problem(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace rides
