#include "src/store/postgres/row.hpp"

#include "src/base/time_text.hpp"

#include <gtest/gtest.h>

namespace pawl::postgres {

namespace {

std::string utc(std::string_view text) {
    const auto time = time_of_postgres(text);
    return time ? base::time_text(*time) : "none";
}

}  // namespace

TEST(PostgresTimeTest, a_time_is_the_same_moment_whatever_the_sessions_zone) {
    EXPECT_EQ(utc("2026-11-21 04:30:00+00"), "2026-11-21T04:30:00.000Z");
    EXPECT_EQ(utc("2026-11-21 04:30:00.1+00"), "2026-11-21T04:30:00.100Z");
    EXPECT_EQ(utc("2026-11-21 10:00:00.123999+05:30"), "2026-11-21T04:30:00.123Z");
    EXPECT_EQ(utc("2026-11-20 23:30:00-05"), "2026-11-21T04:30:00.000Z");
    EXPECT_EQ(utc("1900-01-01 00:00:15+00:00:15"), "1900-01-01T00:00:00.000Z");
}

TEST(PostgresTimeTest, a_text_of_another_form_is_not_a_time) {
    for (const auto* text :
         {"",
          "infinity",
          "2026-11-21",
          "2026-11-21 04:30:00",
          "21.11.2026 04:30:00 UTC",
          "2026-11-21 04:30:00+00 BC",
          "2026-02-30 04:30:00+00",
          "2026-11-21T04:30:00Z"})
        EXPECT_EQ(utc(text), "none") << text;
}

}  // namespace pawl::postgres
