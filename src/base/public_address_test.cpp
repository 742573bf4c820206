#include "src/base/public_address.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

namespace pawl::base {
namespace {

bool is_public(const std::string& text) {
    std::array<std::uint8_t, 16> bytes{};
    const bool v6 = text.find(':') != text.npos;
    EXPECT_EQ(::inet_pton(v6 ? AF_INET6 : AF_INET, text.c_str(), bytes.data()), 1) << text;
    return is_public_address({bytes.data(), v6 ? 16U : 4U});
}

TEST(PublicAddress, of_the_internet_is_public) {
    for (const auto* text :
         {"1.1.1.1",
          "8.8.8.8",
          "9.255.255.255",
          "11.0.0.0",
          "100.63.255.255",
          "100.128.0.0",
          "172.15.255.255",
          "172.32.0.0",
          "192.167.1.1",
          "198.17.0.1",
          "198.20.0.1",
          "223.255.255.255",
          "2606:4700::1",
          "2a00:1450::1",
          "2001:200::1",
          "64:ff9b::8.8.8.8"})
        EXPECT_TRUE(is_public(text)) << text;
}

TEST(PublicAddress, of_a_private_network_or_this_machine_is_not) {
    for (const auto* text :
         {"0.0.0.0",
          "10.0.0.1",
          "100.64.0.1",
          "100.127.255.255",
          "127.0.0.1",
          "127.255.255.255",
          "169.254.169.254",
          "172.16.0.1",
          "172.31.255.255",
          "192.0.0.1",
          "192.168.0.1",
          "198.18.0.1",
          "198.19.255.255",
          "203.0.113.1",
          "224.0.0.1",
          "255.255.255.255",
          "::",
          "::1",
          "::ffff:8.8.8.8",
          "::ffff:127.0.0.1",
          "::127.0.0.1",
          "64:ff9b::10.0.0.1",
          "64:ff9b::a9fe:a9fe",
          "fe80::1",
          "fc00::1",
          "fd12:3456::1",
          "ff02::1",
          "2001:db8::1",
          "2001::1",
          "2002:7f00:1::1",
          "3fff::1"})
        EXPECT_FALSE(is_public(text)) << text;
}

TEST(PublicAddress, of_another_size_is_not) {
    EXPECT_FALSE(is_public_address({}));
}

}  // namespace
}  // namespace pawl::base
