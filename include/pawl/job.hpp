#pragma once

#include <pawl/detail/near_names.hpp>
#include <pawl/detail/session.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace pawl {

// A job as its handler gets it. JobArgs below says what `Args` are.
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

inline constexpr int priorities = 4;
inline constexpr int attempts_max = 100;

}  // namespace detail

// Jobs without a queue of their own go to this one.
inline constexpr std::string_view default_queue = "default";

// Settings of a kind of job.
struct JobSettings {
    std::string_view queue{default_queue};  // 1 to 64 of a-z, 0-9, "_", "-" and ".".
    int priority{1};                        // 1 to 4; jobs of 1 are claimed first.
    // 1 to 100; then it is dead. nullopt: one more than the queue has retry layers.
    std::optional<int> attempts{};
    // How long the handler may work on it before it is stopped; nullopt: the service's job_timeout.
    std::optional<std::chrono::milliseconds> timeout{};
};

namespace detail {

// A field of that name, which is not static, is an argument like others.
template <class Args>
constexpr bool has_job_settings = requires {
    requires !std::is_member_pointer_v<decltype(&Args::settings)>;
};
template <class Args>
constexpr bool job_settings_are_right = requires {
    requires std::same_as<decltype(Args::settings), const JobSettings>;
};

template <class Args>
constexpr JobSettings job_settings() {
    if constexpr (job_settings_are_right<Args>)
        return Args::settings;
    else
        return {};
}

template <class Args>
concept HasPartition = requires(const Args& args) {
    { args.partition() } -> std::convertible_to<std::string>;
};

// Whether a function of this name has another form.
template <class Args>
constexpr bool partition_is_wrong = !HasPartition<Args> && requires {
    requires std::is_member_function_pointer_v<decltype(&Args::partition)>;
};

template <class Args>
constexpr bool good_job_settings() {
    constexpr auto settings = job_settings<Args>();
    return is_queue_name(settings.queue) && settings.priority >= 1 &&
           settings.priority <= priorities &&
           (!settings.attempts || (*settings.attempts >= 1 && *settings.attempts <= attempts_max)
           ) &&
           (!settings.timeout || settings.timeout->count() > 0);
}

// What the library knows of a kind of job.
struct KindOfJob : JobSettings {
    std::string_view kind;
    bool has_partition{};
};

template <class Args>
constexpr KindOfJob kind_of_job() {
    return {job_settings<Args>(), Args::kind, HasPartition<Args>};
}

}  // namespace detail

// Arguments of a job: a plain struct with a static `kind`, and perhaps two more members:
//   static constexpr std::string_view kind = "send_receipt";  // The stored name.
//   static constexpr pawl::JobSettings settings{.queue = "mails", .priority = 2};
//   std::string partition() const { return tenant; }  // For QueueOptions::partition_max.
template <class Args>
concept JobArgs = requires {
    { Args::kind } -> std::convertible_to<std::string_view>;
    requires(!std::string_view{Args::kind}.empty() && std::string_view{Args::kind}.size() <= 100);
    requires detail::job_settings_are_right<Args> || !detail::has_job_settings<Args>;
    requires detail::good_job_settings<Args>();
    requires !detail::partition_is_wrong<Args>;
    requires !detail::almost_static_settings<Args>;
    requires !detail::almost_partition<Args>;
};

// The queue of a kind of job.
template <class Args>
constexpr std::string_view queue_of() {
    return detail::job_settings<Args>().queue;
}

}  // namespace pawl
