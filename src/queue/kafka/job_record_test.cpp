#include "src/queue/kafka/job_record.hpp"

#include "src/base/time_text.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

namespace pawl::queue::kafka {

namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const TimePoint t0{std::chrono::milliseconds{1'800'000'000'000}};  // 2027-01-15T08:00:00.000Z

StagedJob staged() {
    StagedJob job;
    job.jid = "0123456789abcdef01234567";
    job.queue = "mails";
    job.kind = "send_receipt";
    job.args = R"({"ride":1})";
    job.key_id = 7;
    job.created_at = t0;
    return job;
}

// As read from its partition.
Record read(Record record, int partition, std::int64_t offset) {
    record.partition.number = partition;
    record.offset = offset;
    return record;
}

Record pushed() {
    return read(pushed_record(staged(), "pawl.mails", t0 + 1s), 3, 41);
}

Record retried(const Record& record, const std::optional<std::string>& error = "no answer") {
    auto next = retry_record(
        record,
        job_of(record, "mails"),
        "pawl.mails__rides__retry_10000",
        "rides",
        t0 + 10s,
        error,
        t0 + 2s
    );
    return read(std::move(next), 0, 5);
}

Record dead_lettered(const Record& record, const std::string& error = "for good") {
    auto dead = dead_record(
        record, job_of(record, "mails"), "pawl.mails__rides__dlq", "rides", error, t0 + 3s
    );
    return read(std::move(dead), 0, 12);
}

std::string header(const Record& record, std::string_view name) {
    return std::string{find(record.headers, name).value_or("none")};
}

}  // namespace

TEST(JobRecord, a_pushed_job_is_a_cloud_event_whose_id_is_the_jid) {
    const auto record = pushed();

    EXPECT_EQ(record.key, staged().jid);
    EXPECT_EQ(record.value, R"({"ride":1})");
    EXPECT_EQ(record.at, t0 + 1s);
    EXPECT_EQ(header(record, "ce_specversion"), "1.0");
    EXPECT_EQ(header(record, "ce_id"), staged().jid);
    EXPECT_EQ(header(record, "ce_type"), "send_receipt");
    EXPECT_EQ(header(record, "ce_source"), "/pawl/mails");
    EXPECT_EQ(header(record, "ce_time"), "2027-01-15T08:00:00.000Z");
    EXPECT_EQ(header(record, "content-type"), "application/json");
    EXPECT_EQ(header(record, "pawl_key"), "7");
}

TEST(JobRecord, a_job_is_read_as_it_was_pushed) {
    const auto job = job_of(pushed(), "mails");

    EXPECT_EQ(job.id, "pawl.mails/3/41");
    EXPECT_EQ(job.raw.jid, staged().jid);
    EXPECT_EQ(job.kind, "send_receipt");
    EXPECT_EQ(job.raw.args, R"({"ride":1})");
    EXPECT_EQ(job.raw.key_id, 7);
    EXPECT_EQ(job.raw.created_at, t0);
    EXPECT_EQ(job.failures, 0);
    EXPECT_EQ(job.raw.attempt, 1);
    EXPECT_EQ(job.raw.origin, "kafka pawl.mails[3]@41");
    EXPECT_EQ(due_of(pushed(), t0 + 5s), t0 + 1s);
}

TEST(JobRecord, a_job_from_another_queue_keeps_its_failures) {
    auto job = staged();
    job.failures = 2;
    job.called_at = t0;
    job.first_failed_at = t0;
    job.last_error = "e";
    job.history = R"([{"at":"x","error":"e"}])";

    const auto taken = job_of(pushed_record(job, "pawl.mails", t0), "mails");

    EXPECT_EQ(taken.failures, 2);
    EXPECT_EQ(taken.called_at, t0);
    EXPECT_EQ(taken.raw.first_failed_at, t0);
    EXPECT_EQ(taken.raw.last_error, "e");
}

TEST(JobRecord, a_trace_is_in_its_standard_headers_and_stays_over_retries_death_and_merge) {
    auto job = staged();
    job.trace = core::TraceContext::from_headers(
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "a=1"
    );
    EXPECT_FALSE(find(pushed().headers, "traceparent"));

    const auto record = read(pushed_record(job, "pawl.mails", t0 + 1s), 3, 41);

    EXPECT_EQ(
        find(record.headers, "traceparent"),
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    );
    EXPECT_EQ(find(record.headers, "tracestate"), "a=1");
    EXPECT_EQ(job_of(record, "mails").trace, job.trace);
    const auto dead = dead_lettered(retried(record));
    EXPECT_EQ(job_of(dead, "mails").trace, job.trace);
    const auto merged = merged_record(dead, "pawl.mails", "ann", t0, true);
    EXPECT_EQ(job_of(merged, "mails").trace, job.trace);
}

TEST(JobRecord, a_retry_has_the_headers_of_spring_byte_for_byte) {
    const auto record = retried(pushed());

    EXPECT_EQ(header(record, "retry_topic-attempts"), (std::string{"\0\0\0\x02", 4}));
    EXPECT_EQ(
        header(record, "retry_topic-backoff-timestamp"), big_integer_bytes(1'800'000'010'000)
    );
    EXPECT_EQ(header(record, "retry_topic-backoff-timestamp").size(), 6);
    EXPECT_EQ(
        header(record, "retry_topic-original-timestamp"), big_integer_bytes(1'800'000'001'000)
    );
    EXPECT_EQ(header(record, "kafka_original-topic"), "pawl.mails");
    EXPECT_EQ(header(record, "kafka_original-partition"), (std::string{"\0\0\0\x03", 4}));
    EXPECT_EQ(header(record, "kafka_original-offset"), (std::string{"\0\0\0\0\0\0\0\x29", 8}));
    EXPECT_EQ(header(record, "kafka_original-timestamp").size(), 8);
    EXPECT_EQ(header(record, "kafka_original-timestamp-type"), "CreateTime");
    EXPECT_EQ(header(record, "kafka_dlt-original-consumer-group"), "rides");
    EXPECT_EQ(header(record, "kafka_exception-message"), "no answer");
    EXPECT_EQ(due_of(record, t0), t0 + 10s);
}

TEST(JobRecord, a_retry_is_the_same_job_with_one_more_failure) {
    const auto job = job_of(retried(pushed()), "mails");

    EXPECT_EQ(job.raw.jid, staged().jid);
    EXPECT_EQ(job.failures, 1);
    EXPECT_EQ(job.raw.attempt, 2);
    EXPECT_EQ(job.raw.last_error, "no answer");
    EXPECT_EQ(job.raw.first_failed_at, t0 + 2s);
    EXPECT_EQ(job.raw.created_at, t0);
}

TEST(JobRecord, a_retry_without_an_error_is_no_failure) {
    const auto job = job_of(retried(pushed(), std::nullopt), "mails");

    EXPECT_EQ(job.failures, 0);
    EXPECT_FALSE(job.raw.last_error);
    EXPECT_FALSE(job.raw.first_failed_at);
}

TEST(JobRecord, the_first_coordinates_are_never_overwritten) {
    const auto twice = retried(retried(pushed()));
    const auto merged = merged_record(dead_lettered(twice), "pawl.mails", "ann", t0, true);
    const auto again = dead_lettered(retried(merged), "again");

    EXPECT_EQ(job_of(twice, "mails").raw.origin, "kafka pawl.mails[3]@41");
    EXPECT_EQ(job_of(merged, "mails").raw.origin, "kafka pawl.mails[3]@41");
    EXPECT_EQ(job_of(again, "mails").raw.origin, "kafka pawl.mails[3]@41");
    EXPECT_EQ(header(again, "kafka_dlt-original-offset"), int64_bytes(41));
    EXPECT_EQ(header(again, "kafka_dlt-exception-message"), "again");
    EXPECT_EQ(
        std::count_if(
            again.headers.begin(),
            again.headers.end(),
            [](const Header& one) { return one.name == "kafka_dlt-original-offset"; }
        ),
        1
    );
}

TEST(JobRecord, a_dead_letter_has_only_the_header_names_of_dead_letters) {
    const auto dead = dead_lettered(retried(pushed()));

    for (const auto& one : dead.headers) {
        EXPECT_THAT(one.name, ::testing::Not(StartsWith("kafka_original")));
        EXPECT_THAT(one.name, ::testing::Not(StartsWith("kafka_exception")));
    }
    EXPECT_EQ(header(dead, "kafka_dlt-original-topic"), "pawl.mails");
    EXPECT_EQ(header(dead, "kafka_dlt-exception-message"), "for good");
    EXPECT_EQ(header(dead, "retry_topic-backoff-timestamp"), "none");
}

TEST(JobRecord, a_dead_letter_says_all_that_is_known) {
    const auto letter = letter_of(dead_lettered(retried(pushed())), "mails");

    EXPECT_EQ(letter.jid, staged().jid);
    EXPECT_EQ(letter.queue, "mails");
    EXPECT_EQ(letter.failures, 2);
    EXPECT_EQ(letter.error, "for good");
    EXPECT_EQ(letter.key_id, 7);
    EXPECT_EQ(letter.created_at, t0);
    EXPECT_EQ(letter.first_failed_at, t0 + 2s);
    EXPECT_EQ(letter.died_at, t0 + 3s);
    EXPECT_THAT(letter.history, HasSubstr("no answer"));
    EXPECT_THAT(letter.history, HasSubstr("for good"));
}

TEST(JobRecord, the_ids_of_letters_sort_by_time_and_lead_back_to_their_place) {
    auto dead = dead_lettered(pushed());
    const auto first = letter_id(dead, "mails.de");
    dead.offset = 112;
    const auto second = letter_id(dead, "mails.de");
    set(dead.headers, "pawl_died_at", "2027-01-15T08:00:04.000Z");
    dead.offset = 2;
    const auto third = letter_id(dead, "a");

    EXPECT_EQ(first, "001800000003000.000000.000000000000012.mails.de");
    EXPECT_LT(first, second);
    EXPECT_LT(second, third);
    const auto place = place_of_letter(second);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->queue, "mails.de");
    EXPECT_EQ(place->partition, 0);
    EXPECT_EQ(place->offset, 112);
    for (const auto* other : {"", "4711", "no number", "001800000003000.000000.000000000000012."})
        EXPECT_FALSE(place_of_letter(other)) << other;
}

TEST(JobRecord, a_merged_job_has_all_its_tries_and_says_who_sent_it_back) {
    auto record = pushed();
    set(record.headers, "pawl_called_at", "2027-01-15T08:00:01.000Z");
    const auto dead = dead_lettered(retried(record));

    const auto merged = merged_record(dead, "pawl.mails", "ann", t0 + 9s, true);

    const auto job = job_of(merged, "mails");
    EXPECT_EQ(merged.key, record.key);
    EXPECT_EQ(job.raw.jid, staged().jid);
    EXPECT_EQ(job.failures, 0);
    EXPECT_EQ(job.called_at, t0 + 1s);
    EXPECT_EQ(job.raw.last_error, "for good");
    EXPECT_EQ(due_of(merged, t0 + 9s), t0 + 9s);
    EXPECT_EQ(header(merged, "pawl-merged-by"), "ann");
    EXPECT_EQ(header(merged, "pawl-merged-at"), "2027-01-15T08:00:09.000Z");
    EXPECT_EQ(header(merged, "pawl-merged-from-offset"), "12");
    EXPECT_EQ(header(merged, "kafka_original-offset"), int64_bytes(41));
    EXPECT_THAT(header(merged, "pawl_history"), HasSubstr("merged_by"));
    const auto uncalled = merged_record(dead, "pawl.mails", "ann", t0, false);
    EXPECT_FALSE(job_of(uncalled, "mails").called_at);
}

TEST(JobRecord, a_record_without_an_id_keeps_the_id_of_its_first_place_over_all_retries) {
    Record foreign;
    foreign.partition = {"orders", 1};
    foreign.offset = 99;
    foreign.at = t0;
    foreign.value = "not json";

    const auto job = job_of(foreign, "mails");
    const auto again = retried(foreign);

    EXPECT_EQ(job.raw.jid.size(), 24);
    EXPECT_EQ(job.kind, "");
    EXPECT_EQ(job.raw.args, "not json");
    EXPECT_EQ(job.raw.created_at, t0);
    EXPECT_EQ(job_of(again, "mails").raw.jid, job.raw.jid);
    EXPECT_EQ(job_of(again, "mails").raw.created_at, t0);
    EXPECT_EQ(letter_of(dead_lettered(again), "mails").jid, job.raw.jid);
    foreign.offset = 100;
    EXPECT_NE(job_of(foreign, "mails").raw.jid, job.raw.jid);
}

TEST(JobRecord, an_invalid_id_is_ignored) {
    for (const auto& id :
         {std::string{},
          std::string{"a b"},
          std::string{"a\x7F"},
          std::string{"\xFF"},
          std::string(256, 'a')}) {
        Record foreign;
        set(foreign.headers, "ce_id", id);
        EXPECT_EQ(job_of(foreign, "q").raw.jid.size(), 24) << id;
    }
}

TEST(JobRecord, a_tombstone_has_no_arguments) {
    Record tombstone;

    EXPECT_EQ(job_of(tombstone, "q").raw.args, "");
    EXPECT_FALSE(retried(tombstone).value);
    EXPECT_EQ(letter_of(dead_lettered(tombstone), "q").args, "");
}

TEST(JobRecord, a_nul_in_good_utf_8_is_shown_as_a_question_mark) {
    auto record = pushed();
    record.value = std::string{"a\x00z", 3};

    EXPECT_EQ(letter_of(dead_lettered(record), "mails").args, "a?z");
}

TEST(JobRecord, an_incomplete_origin_is_ignored) {
    Record foreign;
    foreign.partition = {"orders", 1};
    foreign.offset = 99;
    const auto own = job_of(foreign, "q").raw.jid;

    set(foreign.headers, "kafka_original-topic", "others");
    EXPECT_EQ(job_of(foreign, "q").raw.jid, own) << "its partition is missing";
    set(foreign.headers, "kafka_original-partition", int32_bytes(3));
    EXPECT_EQ(job_of(foreign, "q").raw.jid, own) << "its offset is missing";
    set(foreign.headers, "kafka_original-offset", int64_bytes(4));
    EXPECT_NE(job_of(foreign, "q").raw.jid, own);
}

TEST(JobRecord, a_job_without_a_request_has_no_key) {
    auto job = staged();
    job.key_id = std::nullopt;
    const auto record = read(pushed_record(job, "pawl.mails", t0), 0, 1);

    EXPECT_EQ(header(record, "pawl_key"), "none");
    EXPECT_FALSE(job_of(record, "mails").raw.key_id);
}

TEST(JobRecord, a_malformed_dead_letter_id_has_no_place) {
    const auto id = letter_id(dead_lettered(pushed()), "mails");
    ASSERT_TRUE(place_of_letter(id));
    auto changed = [&](std::size_t at, char to) {
        auto text = id;
        text[at] = to;
        return text;
    };
    for (const auto& none :
         {std::string{},
          id.substr(0, 15),
          id.substr(0, 16),
          id.substr(0, 39),  // No queue.
          changed(15, '-'),  // No separator.
          changed(22, '-'),  //
          changed(0, 'x'),   // Not a number.
          changed(0, '-'),
          "0" + id,  // Another spelling of the same id.
          // Partition out of range.
          std::string{"001800000003000.4294967296.000000000000012.mails"}})
        EXPECT_FALSE(place_of_letter(none)) << none;
}

TEST(JobRecord, foreign_headers_are_kept) {
    auto record = pushed();
    set(record.headers, "traceparent", "00-1-2-01");
    record.headers.push_back({"null", std::nullopt});

    const auto merged =
        merged_record(dead_lettered(retried(record)), "pawl.mails", "ann", t0, true);

    EXPECT_EQ(header(merged, "traceparent"), "00-1-2-01");
    EXPECT_THAT(merged.headers, ::testing::Contains(Header{"null", std::nullopt}));
}

TEST(JobRecord, a_clock_that_was_ahead_delays_nothing) {
    Record foreign;
    foreign.at = t0 + 24h;

    EXPECT_EQ(due_of(foreign, t0), t0);
}

// tests/fuzz/kafka.cpp, inputs most_negative_attempts and time_of_no_calendar.
TEST(JobRecord, numbers_out_of_range_are_clamped) {
    auto record = pushed();
    remove(record.headers, "ce_time");
    set(record.headers,
        "retry_topic-attempts",
        int64_bytes(std::numeric_limits<std::int64_t>::min()));
    set(record.headers,
        "retry_topic-original-timestamp",
        int64_bytes(std::numeric_limits<std::int64_t>::min()));
    record.at = TimePoint::max();

    const auto letter = letter_of(record, "mails");

    EXPECT_EQ(letter.failures, 0);
    EXPECT_EQ(letter.created_at, TimePoint{});
    EXPECT_EQ(base::time_text(letter.died_at), "9999-12-31T23:59:59.999Z");
    ASSERT_TRUE(place_of_letter(letter.id)) << letter.id << ": nobody could merge or purge it";
    EXPECT_EQ(place_of_letter(letter.id)->offset, record.offset);
    EXPECT_EQ(due_of(record, t0), t0) << "a writer's clock was ahead";
}

// tests/fuzz/kafka.cpp, input offset_beyond_the_id: such a letter could not be merged or purged.
TEST(JobRecord, an_offset_of_more_digits_than_ids_have_is_found_by_its_id) {
    auto record = pushed();
    record.offset = 1'221'474'832'147'483'647;

    const auto place = place_of_letter(letter_id(record, "mails"));

    ASSERT_TRUE(place);
    EXPECT_EQ(place->offset, record.offset);
    EXPECT_EQ(place->queue, "mails");
}

// tests/fuzz/kafka.cpp, input most_failures.
TEST(JobRecord, a_job_with_the_largest_failure_count_can_fail_again) {
    auto record = pushed();
    set(record.headers, "pawl_failures", std::to_string(std::numeric_limits<std::int64_t>::max()));
    const int most = job_of(record, "mails").failures;

    const auto next = retried(record);

    EXPECT_GE(job_of(next, "mails").failures, most);
    EXPECT_EQ(*integer_of(header(next, "retry_topic-attempts")), std::int64_t{most} + 2);
}

// tests/fuzz/kafka.cpp, inputs origin_in_part and origin_of_a_dead_letter: a job without an id gets
// its id from its first place, which must not change with each try.
TEST(JobRecord, a_record_without_an_id_keeps_its_derived_id_with_a_partial_origin) {
    for (const auto* family : {"kafka_original-", "kafka_dlt-original-"})
        for (const bool whole : {false, true}) {
            auto record = pushed();
            remove(record.headers, "ce_id");
            set(record.headers, std::string{family} + "topic", "away");
            if (whole) set(record.headers, std::string{family} + "partition", int32_bytes(2));
            if (whole) set(record.headers, std::string{family} + "offset", int64_bytes(9));
            const auto jid = job_of(record, "mails").raw.jid;

            const auto once = retried(record);

            EXPECT_EQ(job_of(once, "mails").raw.jid, jid) << family << whole;
            EXPECT_EQ(job_of(retried(once), "mails").raw.jid, jid) << family << whole;
            EXPECT_EQ(job_of(dead_lettered(once), "mails").raw.jid, jid) << family << whole;
        }
}

TEST(JobRecord, the_message_of_an_exception_becomes_text) {
    EXPECT_EQ(
        letter_of(dead_lettered(pushed(), std::string{"\xFF\x00\xC3", 3}), "mails").error, "???"
    );
}

TEST(JobRecord, arguments_that_are_not_utf_8_are_shown_as_far_as_possible) {
    auto record = pushed();
    record.value = std::string{"a\xFF\x00\x7Fz", 5};
    const auto dead = dead_lettered(record);

    EXPECT_EQ(letter_of(dead, "mails").args, "a???z");
    EXPECT_EQ(merged_record(dead, "t", "ann", t0, true).value, record.value);
}

TEST(JobRecord, a_shortened_record_keeps_what_its_worker_needs) {
    const auto record = retried(pushed(), std::string(2'000, 'e'));
    const auto small = shortened(record);

    EXPECT_LT(size_of(small) + 5'000, size_of(record));
    EXPECT_EQ(job_of(small, "mails").failures, 1);
    EXPECT_EQ(due_of(small, t0), t0 + 10s);
    EXPECT_EQ(job_of(small, "mails").raw.origin, "kafka pawl.mails[3]@41");
}

}  // namespace pawl::queue::kafka
