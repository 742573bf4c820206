// A record of a Kafka topic, which any program may have written. Every record can be read as a job,
// retried, dead_lettered, listed and merged; these keep the parts that they do not change; records
// that we write, we can read.
//
// The input is text. A line ":at=7", ":offset=7", ":partition=7" gives the record's place, "+key"
// its key, "name=value" a header, "name" a null header; %00 is a byte. The text after an empty line
// is the record's value; without an empty line it has none.

#include "src/base/error_text.hpp"
#include "src/base/text.hpp"
#include "src/base/time_text.hpp"
#include "src/queue/kafka/job_record.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <charconv>
#include <limits>
#include <optional>

namespace {

using namespace pawl;
using namespace pawl::queue;
using kafka::Record;

constexpr TimePoint now{std::chrono::milliseconds{1'800'000'000'123}};
constexpr TimePoint due{std::chrono::milliseconds{1'800'000'060'000}};

std::string bytes_of(std::string_view text) {
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned byte = 0;
        const auto* const hex = text.data() + i + 1;
        if (text[i] == '%' && i + 2 < text.size() &&
            std::from_chars(hex, hex + 2, byte, 16).ptr == hex + 2) {
            bytes += static_cast<char>(byte);
            i += 2;
        } else {
            bytes += text[i];
        }
    }
    return bytes;
}

std::int64_t number(std::string_view text) {
    return kafka::number_of(text).value_or(0);
}

void read_line(Record& record, std::string_view line) {
    const auto [name, value] = fuzz::cut_at(line, "=");
    constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
    if (name == ":at")
        record.at = TimePoint{std::chrono::milliseconds{number(value)}};
    else if (name == ":offset")  // A broker counts from 0.
        record.offset = number(value) & last;
    else if (name == ":partition")
        record.partition.number = static_cast<int>(number(value) & 0xFFFF);
    else if (line.starts_with('+'))
        record.key = bytes_of(line.substr(1));
    else if (name.size() < line.size())
        record.headers.push_back({std::string{name}, bytes_of(value)});
    else
        record.headers.push_back({std::string{name}, std::nullopt});
}

Record record_of(std::string_view input) {
    Record record;
    record.partition.topic = "mails";
    while (!input.empty()) {
        const auto [line, rest] = fuzz::cut_at(input, "\n");
        if (line.empty()) {
            record.value = std::string{rest};
            return record;
        }
        read_line(record, line);
        input = rest;
    }
    return record;
}

// The headers that are neither ours nor Spring's, in order.
kafka::Headers foreign(const Record& record) {
    kafka::Headers headers;
    for (const auto& header : record.headers) {
        const std::string_view name{header.name};
        if (!name.starts_with("pawl") && !name.starts_with("kafka_") &&
            !name.starts_with("retry_topic-"))
            headers.push_back(header);
    }
    return headers;
}

std::string coordinates(const Record& record) {
    std::string all;
    for (const auto* name : {"topic", "partition", "offset"})
        for (const auto* front : {"kafka_original-", "kafka_dlt-original-"})
            if (const auto value = kafka::find(record.headers, std::string{front} + name)) {
                all.append(name).append("=").append(*value).append("\n");
                break;
            }
    return all;
}

// Text for a page of dead letters and for `pawl dlq show`.
void check_letter(const Record& record) {
    const auto letter = kafka::letter_of(record, "mails");
    for (const auto& text : {letter.jid, letter.kind, letter.args, letter.error, letter.history})
        PAWL_ASSERT(base::is_utf8(text));
    for (const auto& at :
         {std::optional{letter.created_at},
          std::optional{letter.died_at},
          letter.called_at,
          letter.first_failed_at,
          letter.last_failed_at})
        if (at) PAWL_ASSERT(base::time_from_text(base::time_text(*at)) == at);
    const auto place = kafka::place_of_letter(letter.id);
    PAWL_ASSERT(place.has_value());
    PAWL_ASSERT(place->queue == "mails");
    PAWL_ASSERT(place->partition == record.partition.number && place->offset == record.offset);
}

void check_same_job(const Record& from, const Record& to) {
    const auto before = kafka::job_of(from, "mails");
    const auto after = kafka::job_of(to, "mails");
    PAWL_ASSERT(before.kind == after.kind);
    PAWL_ASSERT(before.raw.args == after.raw.args);
    PAWL_ASSERT(before.raw.jid == after.raw.jid);
    PAWL_ASSERT(before.raw.key_id == after.raw.key_id);
    PAWL_ASSERT(from.value == to.value);
    PAWL_ASSERT(foreign(from) == foreign(to));
}

// As a broker would return it from a topic of its own.
Record at_place(Record record, std::int64_t offset) {
    record.partition.number = 3;
    record.offset = offset;
    return record;
}

Record check_retry(const Record& record, std::string_view error) {
    const auto job = kafka::job_of(record, "mails");
    auto next = kafka::retry_record(
        record, job, "mails-retry-60000", "pawl-mails", due, std::string{error}, now
    );
    next = at_place(std::move(next), 17);
    check_same_job(record, next);
    const auto again = kafka::job_of(next, "mails");
    constexpr int most = std::numeric_limits<int>::max() - 2;
    PAWL_ASSERT(again.failures == std::min(job.failures + 1, most));
    PAWL_ASSERT(again.called_at == job.called_at);
    PAWL_ASSERT(again.raw.last_error == base::sanitized_error(error));
    PAWL_ASSERT(again.raw.first_failed_at == job.raw.first_failed_at.value_or(now));
    PAWL_ASSERT(kafka::due_of(next, now) == due);
    PAWL_ASSERT(!coordinates(next).empty());
    PAWL_ASSERT(again.raw.created_at == job.raw.created_at);
    return next;
}

// Runs one record as a job: taken, failed, failed again, dead, merged.
void check_way(const Record& record, std::string_view error) {
    const auto once = check_retry(record, error);
    const auto twice = check_retry(once, "again");
    PAWL_ASSERT(coordinates(twice) == coordinates(once));
    const auto job = kafka::job_of(twice, "mails");
    const auto dead = at_place(
        kafka::dead_record(twice, job, "mails-dlt", "pawl-mails", std::string{error}, now), 5
    );
    check_same_job(record, dead);
    PAWL_ASSERT(coordinates(dead) == coordinates(once));
    PAWL_ASSERT(kafka::letter_of(dead, "mails").died_at == now);
    PAWL_ASSERT(kafka::letter_of(dead, "mails").error == base::sanitized_error(error));
    PAWL_ASSERT(kafka::size_of(kafka::shortened(dead)) <= kafka::size_of(dead));
    check_same_job(record, kafka::shortened(dead));
    check_letter(dead);
    const auto merged = at_place(kafka::merged_record(dead, "mails", "ann", now, false), 99);
    check_same_job(record, merged);
    const auto last = kafka::job_of(merged, "mails");
    PAWL_ASSERT(last.failures == 0 && !last.called_at);
    PAWL_ASSERT(kafka::due_of(merged, now) <= now);
    if (!kafka::find(record.headers, "pawl-merged-from-offset"))
        PAWL_ASSERT(kafka::life_of(merged) != kafka::life_of(record));
    PAWL_ASSERT(kafka::life_of(dead) == kafka::life_of(record));
    check_letter(merged);
}

void check_ours(const Record& record) {
    StagedJob job;
    job.jid = "0123456789abcdef01234567";
    job.queue = "mails";
    job.kind = "send";
    job.args = record.value.value_or("{}");
    job.failures = static_cast<int>(record.headers.size() % 3);
    job.key_id = 42;
    job.created_at = now;
    if (record.key) job.last_error = *record.key;
    const auto read = kafka::job_of(kafka::pushed_record(job, "mails", now), "mails");
    PAWL_ASSERT(read.raw.jid == job.jid && read.kind == job.kind && read.raw.args == job.args);
    PAWL_ASSERT(read.failures == job.failures && read.raw.key_id == job.key_id);
    PAWL_ASSERT(read.raw.created_at == now);
    if (job.last_error) PAWL_ASSERT(read.raw.last_error == base::sanitized_error(*job.last_error));
}

void check_numbers(const Record& record) {
    for (const auto& header : record.headers) {
        if (!header.value) continue;
        const auto value = kafka::integer_of(*header.value);
        if (!value) continue;
        PAWL_ASSERT(kafka::integer_of(kafka::big_integer_bytes(*value)) == value);
        PAWL_ASSERT(kafka::integer_of(kafka::int64_bytes(*value)) == value);
        PAWL_ASSERT(kafka::big_integer_bytes(*value).size() <= header.value->size());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto input = fuzz::text_of(data, size);
    const auto record = record_of(input);
    const auto job = kafka::job_of(record, "mails");
    PAWL_ASSERT(!job.raw.jid.empty() && job.raw.jid.size() <= 255);
    PAWL_ASSERT(job.failures >= 0 && job.raw.attempt == job.failures + 1);
    (void)kafka::due_of(record, now);
    check_letter(record);
    check_way(record, record.key.value_or("failed"));
    check_ours(record);
    check_numbers(record);
    if (const auto place = kafka::place_of_letter(input))
        PAWL_ASSERT(place->partition >= 0 && place->offset >= 0 && !place->queue.empty());
    return 0;
}
