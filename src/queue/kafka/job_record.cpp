#include "src/queue/kafka/job_record.hpp"

#include "src/base/error_text.hpp"
#include "src/base/text.hpp"
#include "src/base/time_text.hpp"
#include "src/json/hash.hpp"
#include "src/queue/job_id.hpp"
#include "src/queue/kafka/history.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace pawl::queue::kafka {

namespace {

constexpr std::string_view original = "kafka_original-";
constexpr std::string_view exception = "kafka_exception-";
constexpr std::string_view dead_letter = "kafka_dlt-";
constexpr std::string_view dead_original = "kafka_dlt-original-";
constexpr std::string_view dead_exception = "kafka_dlt-exception-";
// Spring's name in retry topics too: the value of its KafkaHeaders.ORIGINAL_CONSUMER_GROUP.
constexpr std::string_view original_group = "kafka_dlt-original-consumer-group";
constexpr std::string_view attempts = "retry_topic-attempts";
constexpr std::string_view backoff = "retry_topic-backoff-timestamp";
constexpr std::string_view original_timestamp = "retry_topic-original-timestamp";
constexpr std::string_view expiry_time = "ce_expirytime";  // An extension of CloudEvents.
constexpr std::string_view merged_from = "pawl-merged-from-offset";

std::int64_t ms_of(TimePoint at) {
    return at.time_since_epoch().count();
}

// Headers may hold any number of milliseconds; TimePoint is limited to the end of the year 9999.
TimePoint time_of_ms(std::int64_t ms) {
    constexpr std::int64_t last = 253'402'300'799'999;
    return TimePoint{std::chrono::milliseconds{std::clamp<std::int64_t>(ms, 0, last)}};
}

TimePoint written_at(const Record& record) {
    return time_of_ms(ms_of(record.at));
}

std::optional<std::string> text_in(const Headers& headers, std::string_view name) {
    const auto text = find(headers, name);
    if (!text || !base::is_utf8(*text) || text->find('\0') != text->npos) return std::nullopt;
    return std::string{*text};
}

std::optional<TimePoint> time_in(const Headers& headers, std::string_view name) {
    const auto text = find(headers, name);
    return text ? base::time_from_text(*text) : std::nullopt;
}

// Of CloudEvents: any form of RFC 3339. Other producers write microseconds or nanoseconds.
std::optional<TimePoint> event_time_in(const Headers& headers, std::string_view name) {
    auto text = std::string{find(headers, name).value_or("")};
    constexpr std::size_t ms_end = 23;  // Of 2026-11-21T04:30:00.123
    if (text.size() > ms_end && text[19] == '.') {
        const auto rest = text.find_first_not_of("0123456789", 20);
        if (rest != text.npos && rest > ms_end) text.erase(ms_end, rest - ms_end);
    }
    return base::time_from_rfc3339(text);
}

std::optional<std::int64_t> number_in(const Headers& headers, std::string_view name) {
    const auto text = find(headers, name);
    return text ? number_of(*text) : std::nullopt;
}

std::optional<std::int64_t> integer_in(const Headers& headers, std::string_view name) {
    const auto bytes = find(headers, name);
    return bytes ? integer_of(*bytes) : std::nullopt;
}

std::string named(std::string_view front, std::string_view name) {
    return std::string{front} + std::string{name};
}

struct Origin {
    std::string topic;
    std::int64_t partition{};
    std::int64_t offset{};
};

// nullopt unless all headers of that family are there.
std::optional<Origin> origin_in(const Headers& headers, std::string_view family) {
    const auto topic = text_in(headers, named(family, "topic"));
    const auto partition = integer_in(headers, named(family, "partition"));
    const auto offset = integer_in(headers, named(family, "offset"));
    constexpr std::int64_t partition_max = std::numeric_limits<std::int32_t>::max();
    if (!topic || !partition || *partition < 0 || *partition > partition_max || !offset)
        return std::nullopt;
    return Origin{*topic, *partition, *offset};
}

// Where the job was first read: the headers' origin, or the record's own place.
Origin origin_of(const Record& record) {
    if (auto origin = origin_in(record.headers, original)) return *origin;
    if (auto origin = origin_in(record.headers, dead_original)) return *origin;
    return {record.partition.topic, record.partition.number, record.offset};
}

// For a record without an id: the same over all its retries.
std::string id_of_place(const Origin& origin) {
    json::Parts parts;
    parts.add(origin.topic)
        .add(static_cast<std::uint64_t>(origin.partition))
        .add(static_cast<std::uint64_t>(origin.offset));
    return json::hex(json::sha256(parts.bytes())).substr(0, 24);
}

std::string jid_of(const Record& record) {
    auto id = text_in(record.headers, "ce_id");
    return id && can_be_jid(*id) ? *id : id_of_place(origin_of(record));
}

std::string origin_text(const Origin& origin) {
    return "kafka " + origin.topic + "[" + std::to_string(origin.partition) + "]@" +
           std::to_string(origin.offset);
}

// Of the last failure, which may be Spring's: it leaves pawl_error as it was.
std::optional<std::string> error_in(const Headers& headers) {
    for (const auto family : {exception, dead_exception})
        if (const auto text = text_in(headers, named(family, "message")))
            return base::sanitized_error(*text);
    return text_in(headers, "pawl_error");
}

void set_optional(Headers& headers, std::string_view name, const std::optional<TimePoint>& at) {
    if (at)
        set(headers, name, base::time_text(*at));
    else
        remove(headers, name);
}

void set_failures(Headers& headers, int failures) {
    set(headers, "pawl_failures", std::to_string(failures));
    set(headers, attempts, int32_bytes(failures + 1));
}

void note_failure(Record& record, const ClaimedJob& job, const std::string& error, TimePoint now) {
    auto& headers = record.headers;
    const auto history = find(headers, "pawl_history").value_or("[]");
    set(headers, "pawl_history", with_failure(history, now, error));
    set(headers, "pawl_error", error);
    set_optional(headers, "pawl_first_failed_at", job.raw.first_failed_at.value_or(now));
    set_optional(headers, "pawl_last_failed_at", now);
    set_failures(headers, job.failures + 1);
}

// Replaces one family of header names by the other. The group has one name in both.
void rename_headers(Headers& headers, std::string_view from, std::string_view to) {
    for (auto& header : headers)
        if (header.name.starts_with(from) && header.name != original_group)
            header.name = named(to, header.name.substr(from.size()));
}

void remove_family(Headers& headers, std::string_view family) {
    std::erase_if(headers, [family](const Header& header) {
        return header.name.starts_with(family) && header.name != original_group;
    });
}

// The first coordinates stay: they say where the job came from, later ones only how often it moved.
void note_origin(Record& record, const Record& from, const std::string& group) {
    auto& headers = record.headers;
    if (!integer_in(headers, original_timestamp))
        set(headers, original_timestamp, big_integer_bytes(ms_of(from.at)));
    if (origin_in(headers, original)) return;
    if (origin_in(headers, dead_original)) {  // Spring gave it up, and wrote it to our topic.
        remove_family(headers, original);
        rename_headers(headers, dead_original, original);
        return;
    }
    set(headers, named(original, "topic"), from.partition.topic);
    set(headers, named(original, "partition"), int32_bytes(from.partition.number));
    set(headers, named(original, "offset"), int64_bytes(from.offset));
    set(headers, named(original, "timestamp"), int64_bytes(ms_of(from.at)));
    set(headers, named(original, "timestamp-type"), "CreateTime");
    set(headers, original_group, group);
}

// Also removes the causes and the stack traces of earlier failures, which Spring writes.
void note_exception(Headers& headers, const std::string& error) {
    remove_family(headers, exception);
    remove_family(headers, dead_exception);
    set(headers, named(exception, "fqcn"), "pawl.JobFailed");
    set(headers, named(exception, "message"), error);
}

Record moved_record(const Record& from, const ClaimedJob& job, std::string topic, TimePoint now) {
    Record record;
    record.partition.topic = std::move(topic);
    record.at = now;
    record.key = from.key ? from.key : std::optional{job.raw.jid};
    record.value = from.value;
    record.headers = from.headers;
    set_optional(record.headers, "pawl_called_at", job.called_at);
    return record;
}

std::string readable(std::string_view bytes) {
    if (base::is_utf8(bytes) && bytes.find('\0') == bytes.npos) return std::string{bytes};
    std::string text;
    for (const char c : bytes) text += c >= ' ' && c < '\x7F' ? c : '?';
    return text;
}

std::string digits(std::int64_t number, std::size_t width) {
    auto text = std::to_string(std::max<std::int64_t>(number, 0));
    return text.size() < width ? std::string(width - text.size(), '0') + text : text;
}

// Minimum widths, so that ids sort by time and offset.
constexpr std::array<std::size_t, 3> widths{15, 6, 15};

TimePoint died_at(const Record& record) {
    return time_in(record.headers, "pawl_died_at").value_or(written_at(record));
}

}  // namespace

Record pushed_record(const StagedJob& job, std::string topic, TimePoint now) {
    Record record;
    record.partition.topic = std::move(topic);
    record.at = now;
    record.key = job.jid;
    record.value = job.args;
    auto& headers = record.headers;
    set(headers, "ce_specversion", "1.0");
    set(headers, "ce_id", job.jid);
    set(headers, "ce_type", job.kind);
    set(headers, "ce_source", "/pawl/" + job.queue);
    set(headers, "ce_time", base::time_text(job.created_at));
    set(headers, "content-type", "application/json");
    if (job.key_id) set(headers, "pawl_key", std::to_string(*job.key_id));
    if (job.trace) {
        set(headers, "traceparent", std::string{job.trace->traceparent()});
        if (!job.trace->tracestate().empty()) set(headers, "tracestate", job.trace->tracestate());
    }
    set_optional(headers, "pawl_called_at", job.called_at);
    set_optional(headers, "pawl_first_failed_at", job.first_failed_at);
    set_optional(headers, "pawl_last_failed_at", job.last_failed_at);
    if (job.last_error) set(headers, "pawl_error", base::sanitized_error(*job.last_error));
    if (job.history != "[]") set(headers, "pawl_history", job.history);
    if (job.failures > 0) set_failures(headers, job.failures);
    return record;
}

ClaimedJob job_of(const Record& record, std::string_view queue) {
    const auto& headers = record.headers;
    ClaimedJob job;
    job.id = record.partition.topic + "/" + std::to_string(record.partition.number) + "/" +
             std::to_string(record.offset);
    job.failures = failures_of(record);
    job.queue = queue;
    job.kind = kind_of(record);
    job.called_at = time_in(headers, "pawl_called_at");
    job.raw.jid = jid_of(record);
    job.raw.args = record.value.value_or("");
    job.raw.attempt = job.failures + 1;
    job.raw.key_id = number_in(headers, "pawl_key");
    const auto first = integer_in(headers, original_timestamp);
    job.raw.created_at =
        event_time_in(headers, "ce_time").value_or(first ? time_of_ms(*first) : written_at(record));
    job.raw.first_failed_at = time_in(headers, "pawl_first_failed_at");
    job.raw.last_failed_at = time_in(headers, "pawl_last_failed_at");
    job.raw.last_error = error_in(headers);
    job.raw.origin = origin_text(origin_of(record));
    if (const auto parent = text_in(headers, "traceparent"))
        job.trace =
            core::TraceContext::from_headers(*parent, text_in(headers, "tracestate").value_or(""));
    return job;
}

std::optional<std::string> expired_text(const Record& record, TimePoint now) {
    const auto expiry = event_time_in(record.headers, expiry_time);
    if (!expiry || *expiry > now) return std::nullopt;
    return "it has expired at " + base::time_text(*expiry);
}

int failures_of(const Record& record) {
    // Only Spring's header counts what Spring has tried since.
    const auto tries = std::max<std::int64_t>(integer_in(record.headers, attempts).value_or(1), 1);
    const auto failures = number_in(record.headers, "pawl_failures").value_or(0);
    constexpr std::int64_t most =
        std::numeric_limits<int>::max() - 2;  // Leaves room for this failure and the next.
    return static_cast<int>(std::clamp<std::int64_t>(std::max(failures, tries - 1), 0, most));
}

std::string kind_of(const Record& record) {
    return text_in(record.headers, "ce_type").value_or("");
}

TimePoint due_of(const Record& record, TimePoint now) {
    const auto due = integer_in(record.headers, backoff);
    return due ? time_of_ms(*due) : std::min(written_at(record), now);
}

Record retry_record(
    const Record& record,
    const ClaimedJob& job,
    std::string topic,
    const std::string& group,
    TimePoint due,
    const std::optional<std::string>& error,
    TimePoint now
) {
    auto next = moved_record(record, job, std::move(topic), now);
    note_origin(next, record, group);
    if (error) {
        const auto text = base::sanitized_error(*error);
        note_failure(next, job, text, now);
        note_exception(next.headers, text);
    } else {
        set_failures(next.headers, job.failures);
    }
    set(next.headers, backoff, big_integer_bytes(ms_of(due)));
    return next;
}

Record dead_record(
    const Record& record,
    const ClaimedJob& job,
    std::string topic,
    const std::string& group,
    const std::string& error,
    TimePoint now
) {
    auto dead = moved_record(record, job, std::move(topic), now);
    const auto text = base::sanitized_error(error);
    note_origin(dead, record, group);
    note_failure(dead, job, text, now);
    note_exception(dead.headers, text);
    remove(dead.headers, backoff);
    remove_family(dead.headers, dead_letter);  // From an earlier death, before a merge.
    rename_headers(dead.headers, original, dead_original);
    rename_headers(dead.headers, exception, dead_exception);
    set(dead.headers, "pawl_died_at", base::time_text(now));
    return dead;
}

Record shortened(Record record) {
    constexpr std::size_t enough = 100;
    remove(record.headers, "pawl_history");
    for (const auto& name :
         {std::string{"pawl_error"}, named(exception, "message"), named(dead_exception, "message")})
        if (const auto text = find(record.headers, name); text && text->size() > enough)
            set(record.headers, name, base::sanitized_error(text->substr(0, enough)));
    return record;
}

DeadLetter letter_of(const Record& record, std::string_view queue) {
    const auto& headers = record.headers;
    const auto job = job_of(record, queue);
    DeadLetter letter;
    letter.id = letter_id(record, queue);
    letter.jid = job.raw.jid;
    letter.queue = queue;
    letter.kind = job.kind;
    letter.args = readable(record.value.value_or(""));
    letter.failures = job.failures;
    letter.error = job.raw.last_error.value_or("");
    letter.error_kind = base::error_kind(letter.error);
    letter.history = text_in(headers, "pawl_history").value_or("[]");
    letter.called_at = job.called_at;
    letter.key_id = job.raw.key_id;
    letter.created_at = job.raw.created_at;
    letter.first_failed_at = job.raw.first_failed_at;
    letter.last_failed_at = job.raw.last_failed_at;
    letter.died_at = died_at(record);
    return letter;
}

std::string letter_id(const Record& record, std::string_view queue) {
    return digits(ms_of(died_at(record)), widths[0]) + "." +
           digits(record.partition.number, widths[1]) + "." + digits(record.offset, widths[2]) +
           "." + std::string{queue};
}

std::string life_of(const Record& record) {
    return jid_of(record) + "@" + text_in(record.headers, merged_from).value_or("");
}

std::optional<DeadLetterPlace> place_of_letter(std::string_view id) {
    std::array<std::int64_t, 3> numbers{};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto text = id.substr(0, id.find('.'));
        const auto number = number_of(text);
        if (text.size() == id.size() || !number || digits(*number, widths[i]) != text)
            return std::nullopt;
        numbers[i] = *number;
        id.remove_prefix(text.size() + 1);
    }
    if (id.empty() || numbers[1] > std::numeric_limits<int>::max()) return std::nullopt;
    return DeadLetterPlace{std::string{id}, static_cast<int>(numbers[1]), numbers[2]};
}

Record merged_record(
    const Record& dead, std::string topic, const std::string& by, TimePoint now, bool called
) {
    Record record;
    record.partition.topic = std::move(topic);
    record.at = now;
    record.key = dead.key;
    record.value = dead.value;
    record.headers = dead.headers;
    auto& headers = record.headers;
    const auto name = base::sanitized_error(by);
    rename_headers(headers, dead_original, original);
    rename_headers(headers, dead_exception, exception);
    const auto history = find(headers, "pawl_history").value_or("[]");
    set(headers, "pawl_history", with_merge(history, now, name));
    set_failures(headers, 0);
    for (const auto gone : {backoff, expiry_time, std::string_view{"pawl_died_at"}})
        remove(headers, gone);
    if (!called) remove(headers, "pawl_called_at");
    set(headers, "pawl-merged-by", name);
    set(headers, "pawl-merged-at", base::time_text(now));
    set(headers, merged_from, std::to_string(dead.offset));
    return record;
}

}  // namespace pawl::queue::kafka
