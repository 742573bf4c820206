#pragma once

#include "src/queue/dead_letters.hpp"
#include "src/queue/jobs.hpp"
#include "src/queue/pusher.hpp"
#include "src/queue/queue.hpp"
#include "src/redis/options.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

// A job as it is stored in Redis: Sidekiq's JSON.
//
//   {"class":"send_receipt","args":[{"ride":7}],"retry":true,"queue":"default",
//    "jid":"0123456789abcdef01234567","created_at":1795250000.123,"enqueued_at":1795250001.4}
//
// After a failure also retry_count (0 after the first), failed_at (the first), retried_at (the
// last, from the second on), error_message, error_class. Pawl's own, ignored by Ruby: pawl_key (id
// of the request that staged it), pawl_called_at (first call to the outside), pawl_history
// (failures, merges and a cancellation), pawl_args_text (args holds one text that is not JSON),
// pawl_deaths and pawl_deaths_before_alone (core::DeathFacts).
// traceparent and tracestate are where OpenTelemetry's instrumentation of Sidekiq has them. The
// error_class of a cancelled job is PawlCancelled.
//
// A job with an `expiry` in the past is not run. `retry` (false or a number) and `retry_for`
// (seconds since the first failure) limit its tries, beside what its kind has.
//
// A single argument is the job's argument itself, as Pawl's jobs have; otherwise the list is. A
// payload that is not JSON, or has no class or jid, is claimed, dead-lettered, listed and merged
// byte for byte: its kind is empty, its arguments are the whole payload, and its id is derived from
// its bytes.
namespace pawl::queue::sidekiq {

using redis::SidekiqTimes;

// Values for members that the payload lacks.
struct PayloadDefaults {
    std::string_view queue;
    TimePoint at;
};

ClaimedJob claimed_job_of(std::string_view payload, const PayloadDefaults& defaults);
// Of a payload that names none.
inline constexpr const char* default_queue = "default";
// A larger job would stall all others; what is larger is no job.
inline constexpr std::size_t payload_max = std::size_t{8} << 20U;
// Without id and died_at, which come from its place.
DeadLetter letter_of(std::string_view payload, const PayloadDefaults& defaults);
// Of a payload of `size` bytes, more than payload_max, of which the beginning was read.
DeadLetter large_letter(
    std::string_view beginning, std::size_t size, const PayloadDefaults& defaults
);

// Without state, tries and the times that come from its place; its id is its jid. A payload that is
// not a job, or lacks a time, is marked as damaged.
ListedJob listed_job_of(std::string_view payload, std::string_view queue);
std::string jid_of(std::string_view payload);

// The payload, or why Redis will never accept the job.
std::variant<std::string, RefusedJob> payload_of(
    const StagedJob& job, TimePoint now, SidekiqTimes times
);

// Record what happened to a job; a payload that is not a job stays as it is. with_queue() writes
// the queue that the job was taken from, so that a retry returns to it.
std::string with_queue(std::string_view payload, std::string_view queue);
std::string with_call(std::string_view payload, TimePoint called_at, SidekiqTimes times);
// A run alone begins; with_failure() and without_alone() record its end.
std::string with_alone(std::string_view payload, int deaths);
std::string without_alone(std::string_view payload);
std::string with_failure(
    std::string_view payload, std::string_view error, TimePoint now, SidekiqTimes times
);
struct Merge {
    std::string_view by;
    TimePoint now{};
    bool forget_call{};  // The next call counts as a first one.
};
std::string with_merge(std::string_view payload, const Merge& merge, SidekiqTimes times);
struct Cancel {
    std::string_view by;
    std::string_view reason;
    TimePoint now{};
};
// Counts no failure: the tries stay as they are.
std::string with_cancel(std::string_view payload, const Cancel& cancel);

// Times as JSON numbers. With a fraction or exponent, or below 1e11: seconds; otherwise
// milliseconds. nullopt: not a time of the years 1970 to 9999.
std::string time_number(TimePoint at, SidekiqTimes times);
std::optional<TimePoint> time_of_number(std::string_view number);
std::string score_of(TimePoint at);  // A score in Sidekiq's sets: seconds, in every version.

}  // namespace pawl::queue::sidekiq
