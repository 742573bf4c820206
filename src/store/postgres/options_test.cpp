#include "src/store/postgres/options.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace pawl::postgres {

TEST(PostgresUrlTest, our_parameters_are_taken_and_the_rest_is_libpqs) {
    const auto options = options_of_url(
        "postgres://u:p@h:5433/d?connections=4&sslmode=verify-full&prepared=off&sslrootcert=/ca.pem"
    );

    EXPECT_EQ(options.url, "postgres://u:p@h:5433/d?sslmode=verify-full&sslrootcert=/ca.pem");
    EXPECT_EQ(options.connections, 4);
    EXPECT_FALSE(options.prepared);
}

// Found by reading: the password was cut off at the question mark.
TEST(PostgresUrlTest, a_password_may_have_a_question_mark) {
    const auto options = options_of_url("postgres://u:p?a@h/d?connections=4&x=1");

    EXPECT_EQ(options.url, "postgres://u:p?a@h/d?x=1");
    EXPECT_EQ(options.connections, 4);
    EXPECT_EQ(options_of_url("postgres://u:p?a@h/d").url, "postgres://u:p?a@h/d");
    EXPECT_EQ(options_of_url("postgres://h/d?application_name=a@b&connections=4").connections, 4);
}

TEST(PostgresUrlTest, a_url_without_parameters_stays_as_it_is) {
    const auto options = options_of_url("postgresql://host/name");

    EXPECT_EQ(options.url, "postgresql://host/name");
    EXPECT_TRUE(options.prepared);
    EXPECT_EQ(options.connections, 16);
    EXPECT_EQ(options_of_url("postgres://h/d?prepared=on").url, "postgres://h/d");
}

TEST(PostgresUrlTest, the_url_overrides_the_openers_defaults) {
    EXPECT_EQ(options_of_url("postgres://h/d", {.url = {}, .connections = 2}).connections, 2);
    EXPECT_EQ(
        options_of_url("postgres://h/d?connections=4", {.url = {}, .connections = 2}).connections, 4
    );
}

TEST(PostgresUrlTest, notices_default_to_direct_connections_only) {
    EXPECT_TRUE(options_of_url("postgres://h/d").notifies());
    EXPECT_FALSE(options_of_url("postgres://h/d?prepared=off").notifies());
    EXPECT_FALSE(options_of_url("postgres://h/d?notify=off").notifies());
    EXPECT_TRUE(options_of_url("postgres://h/d?notify=on&prepared=off").notifies());
    EXPECT_EQ(options_of_url("postgres://h/d?notify=on").url, "postgres://h/d");
}

TEST(PostgresUrlTest, an_invalid_value_is_refused_with_its_name) {
    for (const auto* url :
         {"postgres://h/d?connections=many",
          "postgres://h/d?prepared=perhaps",
          "postgres://h/d?notify=perhaps"}) {
        try {
            options_of_url(url);
            FAIL() << url;
        } catch (const std::invalid_argument& refused) {
            const std::string why = refused.what();
            EXPECT_TRUE(
                why.find("connections=many") != why.npos ||
                why.find("=perhaps is neither on nor off") != why.npos
            );
        }
    }
    EXPECT_TRUE(options_of_url("postgres://h/d?connections=0").problem());
}

}  // namespace pawl::postgres
