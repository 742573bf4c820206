#pragma once

#include "src/queue/dead_letters.hpp"
#include "src/queue/pusher.hpp"
#include "src/queue/queue.hpp"
#include "src/redis/options.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

// A job as it lies in Redis: Sidekiq's JSON.
//
//   {"class":"send_receipt","args":[{"ride":7}],"retry":true,"queue":"default",
//    "jid":"0123456789abcdef01234567","created_at":1795250000.123,"enqueued_at":1795250001.4}
//
// After a failure also retry_count (0 after the first), failed_at (the first), retried_at (the
// last, if there were two), error_message, error_class. Of ours besides, and left alone by Ruby:
// pawl_key (id of the request that staged it), pawl_called_at (first call to the outside),
// pawl_history (its failures and merges), pawl_args_text (args holds one text that is no JSON).
//
// One argument stands for itself, as ours always do; of another number the whole list does. What is
// no job, as it is no JSON or has no class or jid, is taken, buried, listed and merged byte for
// byte: its kind is empty, its arguments are all of it, and its id comes from its bytes.
namespace pawl::queue::sidekiq {

using redis::SidekiqTimes;

// Where a member of the payload says nothing.
struct Unsaid {
    std::string_view queue;
    TimePoint at;
};

TakenJob taken_of(std::string_view payload, const Unsaid& unsaid);
// Without its id and died_at, which are of its place.
DeadLetter letter_of(std::string_view payload, const Unsaid& unsaid);

// Or why Redis will never take it.
std::variant<std::string, RefusedJob> payload_of(
    const StagedJob& job, TimePoint now, SidekiqTimes times
);

// What became of a job; one that is none stays as it is. with_queue() names the queue that it was
// taken from, so that a retry comes back to it.
std::string with_queue(std::string_view payload, std::string_view queue);
std::string with_call(std::string_view payload, TimePoint called_at, SidekiqTimes times);
std::string with_failure(
    std::string_view payload, std::string_view error, TimePoint now, SidekiqTimes times
);
struct Merge {
    std::string_view by;
    TimePoint now{};
    bool forget_call{};  // The next call is a first one.
};
std::string with_merge(std::string_view payload, const Merge& merge, SidekiqTimes times);

// Times as numbers of JSON. A fraction or an exponent means seconds, a whole number milliseconds;
// what is no time of the years 1970 to 9999 is nothing.
std::string time_number(TimePoint at, SidekiqTimes times);
std::optional<TimePoint> time_of_number(std::string_view number);
std::string score_of(TimePoint at);  // Of Sidekiq's sets: seconds, in every version.

}  // namespace pawl::queue::sidekiq
