#pragma once

#include "src/queue/dead_letters.hpp"
#include "src/queue/kafka/options.hpp"
#include "src/queue/kafka/record.hpp"
#include "src/queue/pusher.hpp"
#include "src/queue/queue.hpp"

#include <optional>
#include <string>
#include <string_view>

// A job as a record. The value is its arguments as JSON, the key its jid: of one request's jobs
// none waits for another, as a retry would break their order anyway. Headers, texts in UTF-8:
//
//   ce_specversion ce_id ce_type ce_source ce_time content-type
//                               a CloudEvent in binary mode: ce_id is the jid, ce_type the kind,
//                               ce_time when the job was staged
//   pawl_key                    the id of the request that staged it
//   pawl_called_at              of the first call to the outside under its key; a time
//   pawl_failures               digits; where it is missing, retry_topic-attempts less one
//   pawl_first_failed_at pawl_last_failed_at pawl_error pawl_history
//   retry_topic-attempts        int32: this try's number
//   retry_topic-backoff-timestamp, retry_topic-original-timestamp
//                               BigInteger bytes, ms since 1970: when it is due; of the origin
//   kafka_original-topic, -partition (int32), -offset, -timestamp (int64), -timestamp-type,
//   -consumer-group             where it was read first; made once, never overwritten
//   kafka_exception-fqcn, -message
//   kafka_dlt-*                 the same, and instead of these, in the dead-letter topic
//   pawl_died_at pawl-merged-by pawl-merged-at pawl-merged-from-offset
//
// Headers that are neither are kept over retries, burial and merge, as tracing's.
namespace pawl::queue::kafka {

// The partition of what these make is the producer's choice, by the key.
Record pushed_record(const StagedJob& job, std::string topic, TimePoint now);

// Whatever it is: what is no job of ours has no kind, or arguments that do not decode, and whoever
// works it buries it. `failures`, times and texts as its headers say; called_at as the header does.
TakenJob job_of(const Record& record, std::string_view queue);
// Before this it is not worked. What says no time is due since it was written, or read, if its
// writer's clock was ahead.
TimePoint due_of(const Record& record, TimePoint now);

// Of a job's next try; with an error it has failed.
Record retry_record(
    const Record& record,
    const TakenJob& job,
    std::string topic,
    const std::string& group,
    TimePoint due,
    const std::optional<std::string>& error,
    TimePoint now
);
Record dead_record(
    const Record& record,
    const TakenJob& job,
    std::string topic,
    const std::string& group,
    const std::string& error,
    TimePoint now
);
// The same with the least of what we add, for one that its broker finds too large.
Record shortened(Record record);

DeadLetter letter_of(const Record& record, std::string_view queue);
// Its place, and before that its time: 001800000000000.000000.000000000000012.mails
std::string letter_id(const Record& record, std::string_view queue);
// Which of its job's lives this record is of: one begins with its push, another with each merge. Of
// one life there may be several records, as a death between a record and an offset makes.
std::string life_of(const Record& record);
struct LetterPlace {
    std::string queue;
    int partition{};
    std::int64_t offset{};
};
std::optional<LetterPlace> place_of_letter(std::string_view id);

// A dead job as a new one, with all its tries before it. `called`: that it was called counts on.
Record merged_record(
    const Record& dead, std::string topic, const std::string& by, TimePoint now, bool called
);

}  // namespace pawl::queue::kafka
