#include "src/http/trusted_proxies.hpp"

#include "src/http/address_prefix.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pawl::http {
namespace {

const TrustedProxies proxies{{"10.0.0.5", "10.1.0.0/16", "2001:db8:ffff::/48"}};

std::string client(const std::vector<Header>& headers, const std::string& peer = "10.0.0.5") {
    return proxies.client_address(peer, headers);
}

TEST(TrustedProxies, contain_addresses_and_networks) {
    for (const auto* address :
         {"10.0.0.5", "::ffff:10.0.0.5", "10.1.0.0", "10.1.255.255", "2001:db8:ffff:1::2"})
        EXPECT_TRUE(proxies.contains(address)) << address;
    for (const auto* address : {"10.0.0.4", "10.2.0.0", "2001:db8:fffe::1", "::", "", "proxy"})
        EXPECT_FALSE(proxies.contains(address)) << address;
    EXPECT_FALSE(TrustedProxies{}.contains("127.0.0.1"));
}

TEST(TrustedProxies, what_is_no_address_and_trusts_all_is_refused) {
    EXPECT_FALSE(TrustedProxies::problem({"127.0.0.1", "::1", "10.0.0.0/8", "2001:db8::/32"}));
    for (const auto* wrong :
         {"",
          "proxy.example",
          "10.0.0.0/0",
          "10.0.0.0/33",
          "::/0",
          "::/129",
          "10.0.0.0/",
          "10.0.0.0/8x",
          "10.0.0",
          "10.0.0.5:80",
          "[::1]",
          "fe80::1%eth0",
          "*"})
        EXPECT_TRUE(TrustedProxies::problem({wrong})) << wrong;
}

TEST(TrustedProxies, a_client_is_believed_only_as_far_as_trusted_proxies_report) {
    struct Case {
        std::string name;
        std::vector<Header> headers;
        std::string expected;
    };
    const std::vector<Case> cases{
        {"no header", {}, "10.0.0.5"},
        {"one", {{"X-Forwarded-For", "192.0.2.1"}}, "192.0.2.1"},
        {"what the client sent comes first",
         {{"X-Forwarded-For", "8.8.8.8, 192.0.2.1"}},
         "192.0.2.1"},
        {"two proxies", {{"X-Forwarded-For", "8.8.8.8, 192.0.2.1, 10.1.2.3"}}, "192.0.2.1"},
        {"several headers are one list",
         {{"X-Forwarded-For", "8.8.8.8"}, {"x-forwarded-for", "192.0.2.1,10.1.2.3"}},
         "192.0.2.1"},
        {"proxies alone", {{"X-Forwarded-For", "10.1.2.3, 10.1.2.4"}}, "10.1.2.3"},
        {"with a port", {{"X-Forwarded-For", "192.0.2.1:4711"}}, "192.0.2.1"},
        {"IPv6", {{"X-Forwarded-For", "2001:db8::1"}}, "2001:db8::1"},
        {"IPv6 with a port", {{"X-Forwarded-For", "[2001:DB8:0::1]:80"}}, "2001:db8::1"},
        {"IPv4 as IPv6", {{"X-Forwarded-For", "::ffff:192.0.2.1"}}, "192.0.2.1"},
        {"empty elements", {{"X-Forwarded-For", " , 192.0.2.1 , ,"}}, "192.0.2.1"},
        {"an empty list", {{"X-Forwarded-For", ""}}, "10.0.0.5"},
        {"no address", {{"X-Forwarded-For", "192.0.2.1, joe"}}, "10.0.0.5"},
        {"unknown", {{"X-Forwarded-For", "192.0.2.1, unknown"}}, "10.0.0.5"},
        {"the last proxy that says it", {{"X-Forwarded-For", "joe, 10.1.2.3"}}, "10.1.2.3"},
        {"a zone", {{"X-Forwarded-For", "fe80::1%eth0"}}, "10.0.0.5"},
        {"leading zeros", {{"X-Forwarded-For", "192.0.2.01"}}, "10.0.0.5"},
        {"RFC 7239", {{"Forwarded", "for=192.0.2.43;proto=https;by=203.0.113.43"}}, "192.0.2.43"},
        {"its case", {{"forwarded", "By=10.0.0.5; FOR=192.0.2.43"}}, "192.0.2.43"},
        {"quoted IPv6", {{"Forwarded", R"(for="[2001:db8:cafe::17]:4711")"}}, "2001:db8:cafe::17"},
        {"an obfuscated port", {{"Forwarded", R"(for="192.0.2.43:_gw4")"}}, "192.0.2.43"},
        {"a list",
         {{"Forwarded", R"(for=8.8.8.8, for=192.0.2.43, for="10.1.2.3:80")"}},
         "192.0.2.43"},
        {"unknown in a pair", {{"Forwarded", "for=192.0.2.43, for=unknown"}}, "10.0.0.5"},
        {"a name that hides it", {{"Forwarded", "for=192.0.2.43, for=_hidden"}}, "10.0.0.5"},
        {"behind it a proxy", {{"Forwarded", "for=_hidden, for=10.1.2.3"}}, "10.1.2.3"},
        {"no for", {{"Forwarded", "for=192.0.2.43, proto=https"}}, "10.0.0.5"},
        {"for twice", {{"Forwarded", "for=192.0.2.43;for=192.0.2.44"}}, "10.0.0.5"},
        {"IPv6 without quotes", {{"Forwarded", "for=[2001:db8::1]"}}, "10.0.0.5"},
        {"a space in a pair", {{"Forwarded", "for = 192.0.2.43"}}, "10.0.0.5"},
        {"no pair", {{"Forwarded", "192.0.2.43"}}, "10.0.0.5"},
        {"a quote that the client left open",
         {{"Forwarded", R"(for="8.8.8.8)"}, {"Forwarded", "for=192.0.2.43"}},
         "192.0.2.43"},
        {"a comma that the client has in quotes",
         {{"Forwarded", R"(for="8.8.8.8, for=1.1.1.1", for=192.0.2.43)"}},
         "192.0.2.43"},
        {"both agree",
         {{"Forwarded", "for=192.0.2.43"}, {"X-Forwarded-For", "8.8.8.8, 192.0.2.43"}},
         "192.0.2.43"},
        {"one of both is the client's own",
         {{"Forwarded", "for=8.8.8.8"}, {"X-Forwarded-For", "192.0.2.43"}},
         "10.0.0.5"},
    };
    for (const auto& c : cases) EXPECT_EQ(client(c.headers), c.expected) << c.name;
}

TEST(TrustedProxies, nobody_else_is_believed) {
    EXPECT_EQ(client({{"X-Forwarded-For", "192.0.2.1"}}, "10.0.0.6"), "10.0.0.6");
    EXPECT_EQ(client({{"Forwarded", "for=192.0.2.1"}}, "2001:db8::1"), "2001:db8::1");
}

TEST(TrustedProxies, a_header_of_any_bytes_gives_an_address) {
    for (const auto* text :
         {"\"",
          "\"\"",
          "for=",
          "for=\"",
          "for=\"\\\"",
          ";",
          ";;,;",
          "for=\"\"",
          "for=\"[\"",
          "for=\"[]\"",
          "for=\":\"",
          "for=\"::::::::::\"",
          "for=\"[::1]:999999\"",
          "for=\"[::1]x\"",
          ",\",\",",
          "for=\xff"})
        EXPECT_EQ(client({{"Forwarded", text}}), "10.0.0.5") << text;
    EXPECT_EQ(client({{"Forwarded", std::string(32'768, ',')}}), "10.0.0.5");
    EXPECT_EQ(client({{"Forwarded", std::string(32'768, '"')}}), "10.0.0.5");
}

TEST(AddressPrefix, one_household_counts_as_one_address) {
    EXPECT_EQ(address_prefix("::ffff:192.0.2.1"), address_prefix("192.0.2.1"));
    EXPECT_NE(address_prefix("192.0.2.2"), address_prefix("192.0.2.1"));
    EXPECT_EQ(address_prefix("2001:db8:1:2:3:4:5:6"), address_prefix("2001:db8:1:2::1"));
    EXPECT_NE(address_prefix("2001:db8:1:3::1"), address_prefix("2001:db8:1:2::1"));
    EXPECT_EQ(address_prefix("fe80::1%eth0"), address_prefix("fe80::1"));
    EXPECT_EQ(address_prefix("joe"), address_prefix(""));
}

}  // namespace
}  // namespace pawl::http
