#include "src/queue/kafka/job_record.hpp"

#include <gmock/gmock.h>

namespace pawl::queue::kafka {

namespace {

using ::testing::AnyOf;
using ::testing::Each;
using ::testing::Field;
using ::testing::Not;

const TimePoint spring_at{std::chrono::milliseconds{1'800'000'000'000}};

// As Spring Kafka writes it. family: "kafka_original-" in retry topics and by @RetryableTopic also
// in its dead-letter topic, "kafka_dlt-original-" by DeadLetterPublishingRecoverer.
Record spring_record(const std::string& family) {
    const auto exception =
        family == "kafka_original-" ? "kafka_exception-" : "kafka_dlt-exception-";
    Record record;
    record.partition = {"pawl.mails", 1};
    record.offset = 7;
    record.at = spring_at;
    record.key = "order-1";
    record.value = R"({"ride":1})";
    auto& headers = record.headers;
    set(headers, "ce_id", "order-1");
    set(headers, "ce_type", "send_receipt");
    set(headers, family + "topic", "orders");
    set(headers, family + "partition", int32_bytes(2));
    set(headers, family + "offset", int64_bytes(40));
    set(headers, family + "timestamp", int64_bytes(1'700'000'000'000));
    set(headers, family + "timestamp-type", "LogAppendTime");
    set(headers, "kafka_dlt-original-consumer-group", "shop");
    set(headers, exception + std::string{"fqcn"}, "java.lang.RuntimeException");
    set(headers, exception + std::string{"cause-fqcn"}, "java.net.ConnectException");
    set(headers, exception + std::string{"message"}, "Listener failed");
    set(headers, exception + std::string{"stacktrace"}, "java.lang.RuntimeException\n\tat x");
    return record;
}

Record failed_here(const Record& record) {
    return retry_record(
        record,
        job_of(record, "mails"),
        "pawl.mails__rides__retry_10000",
        "rides",
        spring_at,
        "no",
        spring_at
    );
}

Record given_up_here(const Record& record) {
    return dead_record(
        record, job_of(record, "mails"), "pawl.mails__rides__dlq", "rides", "for good", spring_at
    );
}

std::string text_of(const Record& record, std::string_view name) {
    return std::string{find(record.headers, name).value_or("none")};
}

class SpringRecord : public ::testing::TestWithParam<std::string> {};

}  // namespace

TEST_P(SpringRecord, keeps_its_whole_origin) {
    const auto foreign = spring_record(GetParam());
    const auto retry = failed_here(foreign);
    const auto dead = given_up_here(retry);
    const auto merged = merged_record(given_up_here(foreign), "pawl.mails", "ann", spring_at, true);

    EXPECT_EQ(job_of(foreign, "mails").raw.origin, "kafka orders[2]@40");
    for (const auto& [record, family] : {
             std::pair{retry, "kafka_original-"},
             std::pair{dead, "kafka_dlt-original-"},
             std::pair{merged, "kafka_original-"},
         }) {
        EXPECT_EQ(text_of(record, family + std::string{"topic"}), "orders");
        EXPECT_EQ(text_of(record, family + std::string{"partition"}), int32_bytes(2));
        EXPECT_EQ(text_of(record, family + std::string{"offset"}), int64_bytes(40));
        EXPECT_EQ(
            text_of(record, family + std::string{"timestamp"}), int64_bytes(1'700'000'000'000)
        );
        EXPECT_EQ(text_of(record, family + std::string{"timestamp-type"}), "LogAppendTime");
        EXPECT_EQ(text_of(record, "kafka_dlt-original-consumer-group"), "shop");
        EXPECT_EQ(text_of(record, "kafka_original-consumer-group"), "none");
    }
}

TEST_P(SpringRecord, loses_springs_exception_when_our_handler_fails) {
    const auto foreign = spring_record(GetParam());

    EXPECT_EQ(job_of(foreign, "mails").raw.last_error, "Listener failed");
    for (const auto& record : {failed_here(foreign), given_up_here(foreign)})
        for (const auto& name : {"cause-fqcn", "stacktrace"})
            for (const std::string family : {"kafka_exception-", "kafka_dlt-exception-"})
                EXPECT_EQ(text_of(record, family + name), "none");
    EXPECT_EQ(text_of(failed_here(foreign), "kafka_exception-message"), "no");
    EXPECT_EQ(text_of(failed_here(foreign), "kafka_dlt-exception-message"), "none");
}

TEST_P(SpringRecord, is_a_dead_letter_with_springs_error) {
    const auto letter = letter_of(spring_record(GetParam()), "mails");

    EXPECT_EQ(letter.jid, "order-1");
    EXPECT_EQ(letter.error, "Listener failed");
}

INSTANTIATE_TEST_SUITE_P(
    Families, SpringRecord, ::testing::Values("kafka_original-", "kafka_dlt-original-")
);

TEST(SpringRecords, a_retry_counts_springs_attempts) {
    auto foreign = spring_record("kafka_original-");
    set(foreign.headers, "retry_topic-attempts", int32_bytes(3));

    EXPECT_EQ(job_of(foreign, "q").failures, 2);
    EXPECT_EQ(job_of(foreign, "q").raw.attempt, 3);
}

TEST(SpringRecords, a_retry_of_ours_that_spring_tried_again_counts_both) {
    auto tried = failed_here(spring_record("kafka_original-"));
    set(tried.headers, "retry_topic-attempts", int32_bytes(4));
    set(tried.headers, "kafka_exception-message", "Listener failed again");

    EXPECT_EQ(job_of(tried, "mails").failures, 3);
    EXPECT_EQ(job_of(tried, "mails").raw.last_error, "Listener failed again");
}

TEST(SpringRecords, a_dead_letter_has_only_the_header_names_of_dead_letters) {
    const auto dead = given_up_here(failed_here(spring_record("kafka_dlt-original-")));

    EXPECT_THAT(
        dead.headers,
        Each(Field(
            &Header::name,
            Not(AnyOf(
                ::testing::StartsWith("kafka_original"), ::testing::StartsWith("kafka_exception")
            ))
        ))
    );
    EXPECT_EQ(text_of(dead, "kafka_dlt-exception-message"), "for good");
}

}  // namespace pawl::queue::kafka
