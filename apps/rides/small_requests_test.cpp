#include "apps/rides/small_requests.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace rides {
namespace {

TEST(CustomerOf, is_unique_for_every_address) {
    const std::set<std::string> addresses{
        "jane@example.com",
        "jane@example.org",
        "jane@other.example.com",
        "a.b@example.com",
        "a_b@example.com",
        "a-b@example.com",
        "a_2eb@example.com",
        "jane_40example.org@example.com"};
    std::set<std::string> customers;
    for (const auto& address : addresses) customers.insert(customer_of(address));

    EXPECT_EQ(customers.size(), addresses.size());
    EXPECT_EQ(customer_of("jane@example.com"), "cus_jane");
    EXPECT_EQ(customer_of("jane@example.org"), "cus_jane_40example_2eorg");
}

// Before, PUT /users/<script>alert(1)</script>@example.com was 500: the column has 50 characters.
TEST(CustomerOf, fits_its_column_for_any_length_of_the_address) {
    const std::string long_one(60, 'a');
    std::set<std::string> customers;
    for (const std::string domain : {"@example.com", "@example.org"})
        for (const auto& name : {long_one, long_one + "b", std::string(20, '<')})
            customers.insert(customer_of(name + domain));

    EXPECT_EQ(customers.size(), 6U);
    for (const auto& customer : customers) EXPECT_LE(customer.size(), 50U) << customer;
}

}  // namespace
}  // namespace rides
