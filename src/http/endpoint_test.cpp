#include "src/http/endpoint.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace pawl::http {
namespace {

std::string read(const std::string& listen) {
    const auto endpoint = endpoint_of(listen);
    if (!endpoint) return "none";
    std::ostringstream text;
    text << *endpoint;
    return text.str();
}

TEST(EndpointOf, reads_addresses_of_both_families_and_localhost) {
    EXPECT_EQ(read("127.0.0.1:8080"), "127.0.0.1:8080");
    EXPECT_EQ(read("localhost:80"), "127.0.0.1:80");
    EXPECT_EQ(read("[::1]:8080"), "[::1]:8080");
    EXPECT_EQ(read("0.0.0.0:0"), "0.0.0.0:0");
    EXPECT_EQ(read("0.0.0.0:65535"), "0.0.0.0:65535");
}

// "[::1:80" was read as "[::]:80": a typo listened on all addresses.
TEST(EndpointOf, rejects_other_texts) {
    for (const std::string listen :
         {"",
          ":",
          "8080",
          "127.0.0.1",
          "127.0.0.1:",
          "127.0.0.1:x",
          "127.0.0.1:80x",
          "127.0.0.1:-1",
          "127.0.0.1:65536",
          "127.0.0.1:99999999999",
          "example.com:80",
          "[::1:80",
          "[]:80"})
        EXPECT_EQ(read(listen), "none") << listen;
}

}  // namespace
}  // namespace pawl::http
