#include "src/base/url.hpp"

#include <gtest/gtest.h>

namespace pawl::base {
namespace {

TEST(WithoutPassword, hides_the_password_wherever_it_is) {
    EXPECT_EQ(without_password("postgres://u:secret@h:1/d"), "postgres://u:***@h:1/d");
    EXPECT_EQ(without_password("postgres://u@h:5432/d"), "postgres://u@h:5432/d");
    EXPECT_EQ(without_password("postgres://h:5432/d"), "postgres://h:5432/d");
    EXPECT_EQ(
        without_password("postgres://h/d?user=u&password=secret&sslpassword=it&sslmode=require"),
        "postgres://h/d?user=u&password=***&sslpassword=***&sslmode=require"
    );
    EXPECT_EQ(
        without_password("postgres://u:secret@h/d?application_name=a@b"),
        "postgres://u:***@h/d?application_name=a@b"
    );
    EXPECT_EQ(without_password("redis://:secret@h:6379/0"), "redis://:***@h:6379/0");
    EXPECT_EQ(without_password("embedded"), "embedded");
    EXPECT_EQ(without_password("sqlite:rides.db"), "sqlite:rides.db");
    EXPECT_EQ(without_password("postgres://u:pa?ss@h/d"), "postgres://u:***@h/d");
    EXPECT_EQ(without_password("postgres://u:p@a/ss@h/d?x=1"), "postgres://u:***@h/d?x=1");
    EXPECT_EQ(without_password("postgres://u:p?a/ss@h/d"), "postgres://u:***@h/d");
    EXPECT_EQ(
        without_password("postgres://h?user=a@b&password=secret"),
        "postgres://h?user=a@b&password=***"
    );
    EXPECT_EQ(
        without_password("kafka://h?sasl.username=u&sasl.password=s"),
        "kafka://h?sasl.username=u&sasl.password=***"
    );
    EXPECT_EQ(without_password("postgres://h:5432/d?a=b@c"), "postgres://h:***@c");
    EXPECT_EQ(without_password("postgres:/u:secret@h/d"), "***@h/d");
    EXPECT_EQ(without_password("sqlite:/data/a=b@c.db"), "sqlite:/data/a=b@c.db");
    EXPECT_EQ(without_password("host=h password=secret"), "host=***");
    EXPECT_EQ(without_password("postgres://?password=secret"), "postgres://?password=***");
}

}  // namespace
}  // namespace pawl::base
