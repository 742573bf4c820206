#include "src/engine/in_flight_calls.hpp"

#include <gtest/gtest.h>

namespace pawl::engine {
namespace {

TEST(InFlightCalls, a_call_with_a_recorded_end_is_no_doubt) {
    InFlightCalls calls;
    calls.begin(1);
    calls.begin(2);
    calls.stop();

    calls.end(1);

    EXPECT_EQ(calls.report().count, 1U);
    EXPECT_EQ(calls.report().keys, "2");
}

TEST(InFlightCalls, a_call_that_ended_in_doubt_counts_only_after_the_stop_began) {
    InFlightCalls calls;
    calls.begin(1);
    calls.in_doubt(1);
    calls.end(1);
    calls.stop();
    calls.begin(2);
    calls.in_doubt(2);
    calls.end(2);

    EXPECT_EQ(calls.report().keys, "2");
}

TEST(InFlightCalls, the_report_names_twenty_keys_and_counts_the_rest) {
    InFlightCalls calls;
    for (int id = 1; id <= 25; ++id) calls.begin(id);

    EXPECT_EQ(calls.report().count, 25U);
    EXPECT_EQ(calls.report().keys, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 and 5 more");
}

}  // namespace
}  // namespace pawl::engine
