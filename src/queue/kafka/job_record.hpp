#pragma once

#include "src/queue/dead_letters.hpp"
#include "src/queue/kafka/options.hpp"
#include "src/queue/kafka/record.hpp"
#include "src/queue/pusher.hpp"
#include "src/queue/queue.hpp"

#include <optional>
#include <string>
#include <string_view>

// A job as a record. The value is its arguments as JSON, the key its jid. Jobs of one request are
// not kept in order by a common key, as a retry would break the order anyway. Headers, texts in
// UTF-8:
//
//   ce_specversion ce_id ce_type ce_source ce_time content-type
//                               a CloudEvent in binary mode: ce_id is the jid, ce_type the kind,
//                               ce_time when the job was staged; after a ce_expirytime it is not
//                               run
//   pawl_key                    the id of the request that staged it
//   pawl_called_at              time of the first call to the outside under the job's key
//   pawl_failures               digits; if missing, retry_topic-attempts minus one
//   pawl_first_failed_at pawl_last_failed_at pawl_error pawl_history
//   retry_topic-attempts        int32: the number of this try
//   retry_topic-backoff-timestamp, retry_topic-original-timestamp
//                               BigInteger bytes, ms since 1970: when it is due; of the origin
//   kafka_original-topic, -partition (int32), -offset, -timestamp (int64), -timestamp-type,
//   -consumer-group             where it was first read; written once, never overwritten
//   kafka_exception-fqcn, -message
//   kafka_dlt-*                 replace these in the dead-letter topic
//   pawl_died_at pawl-merged-by pawl-merged-at pawl-merged-from-offset
//
// Other headers, as those of tracing, are kept over retries, death and merge.
namespace pawl::queue::kafka {

// The producer chooses the partition by the key.
Record pushed_record(const StagedJob& job, std::string topic, TimePoint now);

// Accepts any record. One that is not a job has no kind, or arguments that do not decode, and its
// worker makes it a dead letter. `failures`, times, texts and called_at come from the headers.
ClaimedJob job_of(const Record& record, std::string_view queue);
// Why it must not run any more, for ClaimedJob::refused.
std::optional<std::string> expired_text(const Record& record, TimePoint now);
int failures_of(const Record& record);
std::string kind_of(const Record& record);
// When the job may run. Without a time in its headers: when it was written, or `now` if the
// writer's clock was ahead.
TimePoint due_of(const Record& record, TimePoint now);

// The record of the job's next try. With an error, the try has failed.
Record retry_record(
    const Record& record,
    const ClaimedJob& job,
    std::string topic,
    const std::string& group,
    TimePoint due,
    const std::optional<std::string>& error,
    TimePoint now
);
Record dead_record(
    const Record& record,
    const ClaimedJob& job,
    std::string topic,
    const std::string& group,
    const std::string& error,
    TimePoint now
);
// The same with as few added bytes as possible, for a record that the broker found too large.
Record shortened(Record record);

DeadLetter letter_of(const Record& record, std::string_view queue);
// Time of death and place: 001800000000000.000000.000000000000012.mails
std::string letter_id(const Record& record, std::string_view queue);
// Identifies which of a job's lives this record is of: the push begins one, each merge another. One
// life may have several records, if the process died after a record was written and before its
// offset was committed.
std::string life_of(const Record& record);
struct DeadLetterPlace {
    std::string queue;
    int partition{};
    std::int64_t offset{};
};
std::optional<DeadLetterPlace> place_of_letter(std::string_view id);

// A dead job as a new one, with its failure count reset. `called`: keep that it was called.
Record merged_record(
    const Record& dead, std::string topic, const std::string& by, TimePoint now, bool called
);

}  // namespace pawl::queue::kafka
