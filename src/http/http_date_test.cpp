#include "src/http/http_date.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pawl::http {
namespace {

using namespace std::chrono_literals;

TEST(HttpDate, is_the_form_of_rfc_9110) {
    EXPECT_EQ(http_date(TimePoint{784'111'777s}), "Sun, 06 Nov 1994 08:49:37 GMT");
    EXPECT_EQ(http_date(TimePoint{0s}), "Thu, 01 Jan 1970 00:00:00 GMT");
    EXPECT_EQ(http_date(TimePoint{951'868'799s} + 999ms), "Tue, 29 Feb 2000 23:59:59 GMT");
}

TEST(HttpDate, round_trips_to_the_second) {
    for (auto at = TimePoint{0s}; at < TimePoint{4'000'000'000s}; at += 12'345'677s)
        EXPECT_EQ(parse_http_date(http_date(at), TimePoint{0s}), at) << http_date(at);
}

// RFC 9110, 5.6.7: a recipient must read all three.
TEST(HttpDate, its_obsolete_forms_are_the_same_time) {
    const TimePoint at{784'111'777s};
    for (const auto* text :
         {"Sun, 06 Nov 1994 08:49:37 GMT",
          "Sunday, 06-Nov-94 08:49:37 GMT",
          "Sun Nov  6 08:49:37 1994"})
        EXPECT_EQ(parse_http_date(text, at), at) << text;
    const auto in_2026 = *parse_http_date("Sat, 28 Nov 2026 00:00:00 GMT", at);
    EXPECT_EQ(
        parse_http_date("Friday, 06-Nov-76 08:49:37 GMT", in_2026),
        parse_http_date("Fri, 06 Nov 2076 08:49:37 GMT", in_2026)
    );
    EXPECT_EQ(
        parse_http_date("Sunday, 06-Nov-77 08:49:37 GMT", in_2026),
        parse_http_date("Sun, 06 Nov 1977 08:49:37 GMT", in_2026)
    );
    EXPECT_EQ(
        parse_http_date("Mon Nov 16 08:49:37 2026", in_2026),
        parse_http_date("Mon, 16 Nov 2026 08:49:37 GMT", in_2026)
    );
}

TEST(HttpDate, refuses_texts_that_are_not_dates_of_this_form) {
    for (const std::string text :
         {"",
          "0",
          "Sun, 06 Nov 1994 08:49:37",
          "Mon, 06 Nov 1994 08:49:37 GMT",
          "Sun, 31 Feb 1994 08:49:37 GMT",
          "Sun, 06 Nov 1994 24:49:37 GMT",
          "Sun, 06 nov 1994 08:49:37 GMT",
          "Sundae, 06-Nov-94 08:49:37 GMT",
          "Monday, 06-Nov-94 08:49:37 GMT",
          "Sunday, 06-Nov-1994 08:49:37 GMT",
          "Sunday, 06-Nov-9x 08:49:37 GMT",
          "Sun Nov  6 08:49:37 1994     ",
          "Mon Nov  6 08:49:37 1994",
          "Sun Nov 31 08:49:37 1994",
          "Sun, -6 Nov 1994 08:49:37 GMT",
          "Sun, 06 Nov 19x4 08:49:37 GMT",
          "Sun, 06 Nov 1994 0x:49:37 GMT",
          "Sun, 06 Nov 1994 08:4x:37 GMT",
          "Sun, 06 Nov 1994 08:49:-1 GMT",
          "Sun, 06 Nov 1994 08:49:37 UTC"})
        EXPECT_EQ(parse_http_date(text, TimePoint{0s}), std::nullopt) << text;
}

}  // namespace
}  // namespace pawl::http
