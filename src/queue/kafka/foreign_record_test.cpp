#include "src/base/time_text.hpp"
#include "src/queue/kafka/job_record.hpp"
#include "tests/format_rows.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pawl::queue::kafka::foreign_record_test {
namespace {

using namespace std::chrono_literals;

const TimePoint t0{1'800'000'000'000ms};  // 2027-01-15T08:00:00.000Z

Record pushed() {
    StagedJob job;
    job.id = 5;
    job.jid = "0123456789abcdef01234567";
    job.queue = "mails";
    job.kind = "send_receipt";
    job.args = R"({"ride":7})";
    job.created_at = t0;
    return pushed_record(job, "pawl.mails", t0 + 1s);
}

TEST(ForeignRecord, a_cloud_event_is_not_run_after_its_expirytime) {
    auto record = pushed();
    EXPECT_FALSE(expired_text(record, t0));
    set(record.headers, "ce_expirytime", "not a time");
    EXPECT_FALSE(expired_text(record, t0));
    set(record.headers, "ce_expirytime", base::time_text(t0 + 1ms));
    EXPECT_FALSE(expired_text(record, t0));
    EXPECT_TRUE(expired_text(record, t0 + 1ms));

    const auto merged = merged_record(record, "pawl.mails", "ann", t0, false);
    EXPECT_FALSE(expired_text(merged, t0 + 1h));
}

TEST(ForeignRecord, the_time_of_a_cloud_event_has_each_form_of_rfc_3339) {
    const TimePoint noon{1'795'262'400'123ms};
    for (const auto* text :
         {"2026-11-21T12:00:00.123Z",
          "2026-11-21T12:00:00.123456789Z",
          "2026-11-21t13:00:00.123456+01:00"}) {
        auto record = pushed();
        set(record.headers, "ce_time", text);
        EXPECT_EQ(job_of(record, "mails").raw.created_at, noon) << text;
    }
    auto record = pushed();
    set(record.headers, "ce_type", std::string{"a\0b", 3});
    EXPECT_EQ(kind_of(record), "") << "no column takes it";
}

// A value is a header's; `value` is the record's own. The empty one is null.
constexpr testing::FormatRow members[]{
    {"value", "the arguments as JSON", "a dead letter"},
    {"ce_type", "the kind; U+0000 is in none", "a dead letter"},
    {"ce_id", "1 to 255 visible characters of ASCII", "an id of its first place", "a b"},
    {"ce_time", "RFC 3339, also with nanoseconds", "the time of the record", "yesterday"},
    {"ce_expirytime", "RFC 3339, a time to come", "a dead letter", "2001-01-01T00:00:00Z"},
    {"retry_topic-backoff-timestamp",
     "milliseconds as bytes, until 9999: not run before",
     "due at once",
     "nine bytes"},
    {"retry_topic-attempts",
     "an int32; pawl_failures, if it is more",
     "the first try",
     "nine bytes"},
    {"content-type", "not read: what is not JSON does not decode", "the same", "application/avro"},
    {"kafka_dlt-exception-fqcn", "not read: a record in our topic is a job", "the same", "java.X"}};

std::string otherwise(const Record& record) {
    const auto same = job_of(pushed(), "mails");
    const auto job = job_of(record, "mails");
    if (job.kind.empty() || !record.value || expired_text(record, t0)) return "a dead letter";
    if (job.raw.jid != same.raw.jid) return "an id of its first place";
    if (job.raw.created_at != same.raw.created_at) return "the time of the record";
    return "the same";
}

TEST(ForeignRecord, the_documented_members_are_read) {
    testing::expect_read_as_documented(members, [](const testing::FormatRow& row) {
        auto record = pushed();
        if (row.member == "value")
            record.value.reset();
        else
            set(record.headers, row.member, std::string{row.value});
        const bool due = due_of(record, t0 + 1h) == due_of(pushed(), t0 + 1h);
        if (row.otherwise == "due at once") return std::string{due ? row.otherwise : "later"};
        if (row.otherwise == "the first try")
            return std::string{failures_of(record) == 0 ? row.otherwise : "a later try"};
        return otherwise(record);
    });
    EXPECT_EQ(otherwise(pushed()), "the same");
}

}  // namespace
}  // namespace pawl::queue::kafka::foreign_record_test
