#pragma once

#include <pawl/detail/session.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pawl {

// A job as its handler gets it. `Args` is an aggregate with a static `kind`, the stored name, and
// perhaps a static `queue`.
template <class Args_>
struct Job {
    using Args = Args_;
    Args args{};
    std::string id{};  // 24 hex digits; the same for all tries, and after a merge.
    int attempt{1};    // Counts from 1.
    std::optional<std::int64_t> key_id{};  // The request that staged it.
    TimePoint created_at{};
    std::optional<TimePoint> first_failed_at{};
    std::optional<TimePoint> last_failed_at{};
    std::optional<std::string> last_error{};
    // Where it entered the queue: "embedded", "redis queue:NAME", "kafka TOPIC[PARTITION]@OFFSET".
    std::string origin{};
};

struct StageOptions {
    // The job is due only after this time, by the database's clock; 0 to ten years.
    std::chrono::milliseconds due_in{};
    // Of the jobs with one kind and one `unique`, only one at a time is in the queue: from its
    // commit until it is done, dead or cancelled. At most 200 bytes; empty: any number. A unique
    // index decides, at every isolation: a second transaction waits for the first one's commit.
    std::string unique{};
    // No other job with this kind and `unique` is staged for this long after it, even if it is done
    // by then; at most 30 days. An external queue needs it, and knows no other limit.
    std::chrono::milliseconds within{};
};

struct Staged {
    std::string id;  // 24 hex digits; of the job that is there already, if this one is not new.
    bool is_new{};   // False: nothing was staged, because of `unique`.
};

// The waits of a failed job, in turn, unless ServiceOptions have others; after the last it is dead.
inline std::vector<std::chrono::milliseconds> default_retry_layers() {
    using namespace std::chrono_literals;
    return {10s, 1min, 10min, 1h, 6h};
}

// A handler's result. An exception means: failed, retry later.
struct JobDone {};
struct JobRetryIn {
    std::chrono::milliseconds wait;  // Not counted as a failure.
};
struct JobDiscarded {
    std::string why;  // Moves the job to the dead letters at once.
};
using JobResult = std::variant<JobDone, JobRetryIn, JobDiscarded>;

inline constexpr JobDone done{};
inline JobResult retry_in(std::chrono::milliseconds wait) {
    return JobRetryIn{wait};
}
inline JobResult discard(std::string why) {
    return JobDiscarded{std::move(why)};
}

namespace detail {

// 1 to 64 of a-z, 0-9, "_", "-" and "."; the queue's name is part of topics and of Redis' keys.
constexpr bool is_queue_name(std::string_view name) {
    constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyz0123456789_-.";
    return !name.empty() && name.size() <= 64 && name.find_first_not_of(allowed) == name.npos;
}

template <class Args>
concept NamesQueue = requires {
    std::bool_constant<(std::string_view{Args::queue}.size() > 0)>{};
};

}  // namespace detail

// Jobs without a queue of their own go to this one.
inline constexpr std::string_view default_queue = "default";

// The queue of a kind of job: `static constexpr std::string_view queue` of its Args.
template <class Args>
constexpr std::string_view queue_of() {
    if constexpr (detail::NamesQueue<Args>)
        return Args::queue;
    else
        return default_queue;
}

template <class Args>
concept JobArgs = requires {
    { Args::kind } -> std::convertible_to<std::string_view>;
    requires(!std::string_view{Args::kind}.empty() && std::string_view{Args::kind}.size() <= 100);
    requires detail::is_queue_name(queue_of<Args>());
};

}  // namespace pawl
