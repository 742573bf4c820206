#include "src/queue/kafka/history.hpp"

#include <gmock/gmock.h>

namespace pawl::queue::kafka {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const TimePoint failed_at{std::chrono::milliseconds{1'800'000'000'000}};

}  // namespace

TEST(History, starts_empty_and_records_failures_and_merges) {
    const auto history =
        with_merge(with_failure("[]", failed_at, "no \"answer\""), failed_at, "ann");

    EXPECT_EQ(
        history,
        R"([{"at":"2027-01-15T08:00:00.000Z","error":"no \"answer\""},)"
        R"({"at":"2027-01-15T08:00:00.000Z","merged_by":"ann"}])"
    );
}

TEST(History, keeps_the_first_and_the_last_twenty) {
    std::string history{"[]"};
    for (int i = 1; i <= 41; ++i)
        history = with_failure(history, failed_at, "e" + std::to_string(i));

    EXPECT_THAT(history, HasSubstr("\"e1\""));
    EXPECT_THAT(history, Not(HasSubstr("\"e21\"")));
    EXPECT_THAT(history, HasSubstr("\"e22\""));
    EXPECT_THAT(history, HasSubstr("\"e41\""));
}

TEST(History, keeps_fewer_entries_if_errors_are_long) {
    std::string history{"[]"};
    for (int i = 1; i <= 41; ++i)
        history = with_failure(history, failed_at, std::to_string(i) + std::string(1'990, '\x01'));

    EXPECT_LE(history.size(), history_bytes_max);
    EXPECT_THAT(history, HasSubstr("\"1\\u0001"));
    EXPECT_THAT(history, HasSubstr("\"41\\u0001"));
}

TEST(History, of_another_format_counts_as_empty) {
    for (const auto* other : {"", "no json", "{}", "[1]", R"([{"when":"now"}])"})
        EXPECT_EQ(
            with_failure(other, failed_at, "e"),
            R"([{"at":"2027-01-15T08:00:00.000Z","error":"e"}])"
        ) << other;
}

}  // namespace pawl::queue::kafka
