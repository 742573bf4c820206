#include "src/queue/redis/payload.hpp"

#include "src/base/error_text.hpp"
#include "src/base/text.hpp"
#include "src/base/time_text.hpp"
#include "src/json/hash.hpp"
#include "src/json/members.hpp"
#include "src/queue/job_id.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

namespace pawl::queue::sidekiq {

namespace {

using json::Members;

constexpr std::size_t history_last = 20;  // Besides the first entry.
constexpr std::string_view our_error_class = "PawlError";
constexpr std::string_view cancelled_class = "PawlCancelled";
constexpr std::string_view deaths_name = "pawl_deaths";
constexpr std::string_view alone_name = "pawl_deaths_before_alone";
constexpr std::int64_t ms_max = 253'402'300'799'999;  // 9999-12-31T23:59:59.999Z

template <class T>
std::optional<T> number_of(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<std::string> text_at(const Members& job, std::string_view name) {
    const auto value = job.find(name);
    return value ? json::string_of(*value) : std::nullopt;
}

template <class T>
std::optional<T> number_at(const Members& job, std::string_view name) {
    const auto value = job.find(name);
    return value ? number_of<T>(*value) : std::nullopt;
}

std::optional<TimePoint> time_at(const Members& job, std::string_view name) {
    const auto value = job.find(name);
    return value ? time_of_number(*value) : std::nullopt;
}

// The members of a job; nullopt: the payload is not a job.
std::optional<Members> job_of(std::string_view payload) {
    auto members = json::members_of(payload);
    if (!members || text_at(*members, "class").value_or("").empty() ||
        !can_be_jid(text_at(*members, "jid").value_or("")))
        return std::nullopt;
    return members;
}

std::string derived_jid(std::string_view payload) {
    return json::hex(json::sha256(payload)).substr(0, 24);
}

std::string args_of(const Members& job) {
    const auto args = job.find("args");
    if (!args) return "[]";
    const auto items = json::items_of(*args);
    if (!items || items->size() != 1) return std::string{*args};
    if (job.find("pawl_args_text") == "true")
        if (auto text = json::string_of(items->front())) return *text;
    return std::string{items->front()};
}

// Sidekiq counts retries: 0 after the first failure.
int failures_of(const Members& job) {
    constexpr int most = std::numeric_limits<int>::max() - 2;
    const auto retries = number_at<std::int64_t>(job, "retry_count");
    if (!retries || *retries < 0) return 0;
    return static_cast<int>(std::min<std::int64_t>(*retries, most)) + 1;
}

std::optional<std::string> error_of(const Members& job) {
    auto message = text_at(job, "error_message");
    const auto of_class = text_at(job, "error_class");
    if (!of_class || of_class == our_error_class || of_class == cancelled_class) return message;
    return *of_class + ": " + message.value_or("");
}

std::string not_a_job(std::size_t size) {
    if (size > payload_max)
        return "it has " + std::to_string(size) + " bytes: jobs have at most 8 MiB";
    return "it is no JSON object with a class and a jid";
}

// The part that ClaimedJob, DeadLetter and ListedJob share.
struct Known {
    bool is_job{};
    bool is_cancelled{};
    std::string jid;
    std::string queue;
    std::string kind;
    std::string args;
    int failures{};
    int deaths{};
    std::optional<int> deaths_before_alone;
    std::optional<std::string> refused;
    std::optional<int> attempts_max;
    std::optional<std::string> error;
    std::string history{"[]"};
    std::optional<TimePoint> called_at;
    std::optional<std::int64_t> key_id;
    TimePoint created_at{};
    std::optional<TimePoint> first_failed_at;
    std::optional<TimePoint> last_failed_at;
    std::optional<core::TraceContext> trace;
};

// Sidekiq Pro does not run a job after its `expiry`.
std::optional<std::string> expired_text(const Members& job, TimePoint now) {
    const auto expiry = time_at(job, "expiry");
    if (!expiry || *expiry > now) return std::nullopt;
    return "it has expired at " + base::time_text(*expiry);
}

// What `retry` and `retry_for` of Sidekiq allow; nullopt: as many as its kind has.
std::optional<int> attempts_max_of(const Members& job, TimePoint now) {
    constexpr std::int64_t most = 1'000'000;
    if (job.find("retry") == "false") return 1;
    const auto first = time_at(job, "failed_at");
    const auto seconds = number_at<double>(job, "retry_for");
    if (first && seconds && std::chrono::duration<double>{now - *first}.count() >= *seconds)
        return failures_of(job) + 1;
    const auto retries = number_at<std::int64_t>(job, "retry");
    if (!retries) return std::nullopt;
    return static_cast<int>(std::clamp<std::int64_t>(*retries, 0, most)) + 1;
}

Known known_of(std::string_view payload, const PayloadDefaults& defaults) {
    Known known;
    known.queue = defaults.queue.empty() ? default_queue : defaults.queue;
    known.created_at = defaults.at;
    // Pawl writes none that is larger, and Ruby's are small.
    const bool readable = payload.size() <= payload_max;
    const auto job = readable ? job_of(payload) : std::nullopt;
    if (!job) {
        known.jid = derived_jid(payload);
        known.args = payload;
        const auto members = readable ? json::members_of(payload) : std::nullopt;
        if (members && defaults.queue.empty())
            known.queue = text_at(*members, "queue").value_or(known.queue);
        return known;
    }
    known.is_job = true;
    known.is_cancelled = text_at(*job, "error_class") == cancelled_class;
    known.jid = *text_at(*job, "jid");
    known.kind = *text_at(*job, "class");
    if (defaults.queue.empty()) known.queue = text_at(*job, "queue").value_or(known.queue);
    known.args = args_of(*job);
    known.failures = failures_of(*job);
    known.deaths = std::max(number_at<int>(*job, deaths_name).value_or(0), 0);
    known.deaths_before_alone = number_at<int>(*job, alone_name);
    known.refused = expired_text(*job, defaults.at);
    known.attempts_max = attempts_max_of(*job, defaults.at);
    known.error = error_of(*job);
    const auto history = job->find("pawl_history");
    if (history && json::items_of(*history)) known.history = *history;
    known.called_at = time_at(*job, "pawl_called_at");
    known.key_id = number_at<std::int64_t>(*job, "pawl_key");
    if (const auto pushed_at = time_at(*job, "enqueued_at")) known.created_at = *pushed_at;
    if (const auto created_at = time_at(*job, "created_at")) known.created_at = *created_at;
    known.first_failed_at = time_at(*job, "failed_at");
    known.last_failed_at = time_at(*job, "retried_at");
    if (!known.last_failed_at) known.last_failed_at = known.first_failed_at;
    if (const auto parent = text_at(*job, "traceparent"))
        known.trace =
            core::TraceContext::from_headers(*parent, text_at(*job, "tracestate").value_or(""));
    return known;
}

void remember(Members& job, std::string_view entry) {
    const auto history = job.find("pawl_history");
    auto items = history ? json::items_of(*history) : std::nullopt;
    if (!items) items.emplace();
    if (items->size() > history_last) items->erase(items->begin() + 1);
    std::string list{"["};
    for (const auto item : *items) list.append(item).append(",");
    list.append(entry).append("]");
    job.set("pawl_history", std::move(list));
}

std::string entry_of(TimePoint now, std::string_view name, std::string_view text) {
    return R"({"at":)" + json::literal_of(base::time_text(now)) + "," + json::literal_of(name) +
           ":" + json::literal_of(text) + "}";
}

void set_failures(Members& job, const StagedJob& from, SidekiqTimes times) {
    if (from.failures > 0) job.set("retry_count", std::to_string(from.failures - 1));
    if (from.first_failed_at) job.set("failed_at", time_number(*from.first_failed_at, times));
    if (from.last_failed_at && from.last_failed_at != from.first_failed_at)
        job.set("retried_at", time_number(*from.last_failed_at, times));
    if (from.last_error) {
        job.set("error_message", json::literal_of(base::sanitized_error(*from.last_error)));
        job.set("error_class", json::literal_of(our_error_class));
    }
    if (from.called_at) job.set("pawl_called_at", time_number(*from.called_at, times));
    if (from.history != "[]" && json::is_json(from.history, json::levels_max - 1) &&
        json::items_of(from.history))
        job.set("pawl_history", from.history);
}

}  // namespace

std::string time_number(TimePoint at, SidekiqTimes times) {
    const auto ms = at.time_since_epoch().count();
    return times == SidekiqTimes::milliseconds ? std::to_string(ms) : score_of(at);
}

std::optional<TimePoint> time_of_number(std::string_view number) {
    constexpr double ms_min = 1e11;  // In 1973; as seconds, in the year 5138.
    const auto value = number_of<double>(number);
    if (!value) return std::nullopt;
    const bool seconds = number.find_first_of(".eE") != number.npos || *value < ms_min;
    const double ms = std::round(*value * (seconds ? 1'000 : 1));
    if (!(ms >= 0 && ms <= static_cast<double>(ms_max))) return std::nullopt;
    return TimePoint{std::chrono::milliseconds{static_cast<std::int64_t>(ms)}};
}

std::string score_of(TimePoint at) {
    const auto ms = at.time_since_epoch().count();
    const auto fraction = std::to_string(1'000 + ms % 1'000).substr(1);
    return std::to_string(ms / 1'000) + "." + fraction;
}

ClaimedJob claimed_job_of(std::string_view payload, const PayloadDefaults& defaults) {
    auto known = known_of(payload, defaults);
    ClaimedJob job;
    job.failures = known.failures;
    job.deaths = known.deaths;
    job.deaths_before_alone = known.deaths_before_alone;
    job.queue = std::move(known.queue);
    job.kind = std::move(known.kind);
    job.refused = std::move(known.refused);
    job.attempts_max = known.attempts_max;
    job.called_at = known.called_at;
    job.held = payload;
    job.raw.jid = std::move(known.jid);
    job.raw.args = std::move(known.args);
    job.raw.attempt = known.failures + 1;
    job.raw.key_id = known.key_id;
    job.raw.created_at = known.created_at;
    job.raw.first_failed_at = known.first_failed_at;
    job.raw.last_failed_at = known.last_failed_at;
    job.raw.last_error = std::move(known.error);
    job.raw.origin = "redis queue:" + job.queue;
    job.trace = std::move(known.trace);
    return job;
}

DeadLetter letter_of(std::string_view payload, const PayloadDefaults& defaults) {
    auto known = known_of(payload, defaults);
    DeadLetter letter;
    letter.jid = std::move(known.jid);
    letter.queue = std::move(known.queue);
    letter.kind = std::move(known.kind);
    letter.args = std::move(known.args);
    letter.failures = known.failures;
    letter.error = known.is_job ? known.error.value_or("") : not_a_job(payload.size());
    letter.error_kind = known.is_cancelled ? "cancelled" : base::error_kind(letter.error);
    letter.history = std::move(known.history);
    letter.called_at = known.called_at;
    letter.key_id = known.key_id;
    letter.created_at = known.created_at;
    letter.first_failed_at = known.first_failed_at;
    letter.last_failed_at = known.last_failed_at;
    return letter;
}

DeadLetter large_letter(
    std::string_view beginning, std::size_t size, const PayloadDefaults& defaults
) {
    DeadLetter letter;
    letter.jid = derived_jid(beginning);
    letter.queue = default_queue;
    letter.args = std::string{beginning} + "...";
    letter.error = not_a_job(size);
    letter.error_kind = base::error_kind(letter.error);
    letter.history = "[]";
    letter.created_at = defaults.at;
    return letter;
}

ListedJob listed_job_of(std::string_view payload, std::string_view queue) {
    auto known = known_of(payload, {queue, TimePoint{}});
    ListedJob job;
    job.jid = std::move(known.jid);
    job.id = job.jid;
    job.queue = std::move(known.queue);
    job.kind = std::move(known.kind);
    job.args = std::move(known.args);
    job.failures = known.failures;
    job.deaths = known.deaths;
    job.called_at = known.called_at;
    job.key_id = known.key_id;
    job.created_at = known.created_at;
    job.first_failed_at = known.first_failed_at;
    job.last_failed_at = known.last_failed_at;
    job.error = std::move(known.error);
    job.history = std::move(known.history);
    if (!known.is_job)
        job.damaged = {not_a_job(payload.size()), {"kind", "created_at"}};
    else if (known.created_at == TimePoint{})
        job.damaged = {"it has no created_at", {"created_at"}};
    return job;
}

std::string jid_of(std::string_view payload) {
    const auto job = job_of(payload);
    return job ? *text_at(*job, "jid") : derived_jid(payload);
}

std::variant<std::string, RefusedJob> payload_of(
    const StagedJob& job, TimePoint now, SidekiqTimes times
) {
    // Two levels belong to the payload; deeper arguments travel as text.
    const bool is_json = json::is_json(job.args, json::levels_max - 2);
    if (!is_json && !base::is_utf8(job.args))
        return RefusedJob{job.id, "its arguments are not UTF-8, as Redis jobs must be"};
    if (job.kind.empty() || job.jid.empty()) return RefusedJob{job.id, "it has no kind or no id"};
    auto payload = *json::members_of("{}");
    payload.set("class", json::literal_of(job.kind));
    payload.set("args", "[" + (is_json ? job.args : json::literal_of(job.args)) + "]");
    payload.set("retry", "true");
    payload.set("queue", json::literal_of(job.queue));
    payload.set("jid", json::literal_of(job.jid));
    payload.set("created_at", time_number(job.created_at, times));
    payload.set("enqueued_at", time_number(now, times));
    if (!is_json) payload.set("pawl_args_text", "true");
    if (job.key_id) payload.set("pawl_key", std::to_string(*job.key_id));
    if (job.trace) {
        payload.set("traceparent", json::literal_of(job.trace->traceparent()));
        if (!job.trace->tracestate().empty())
            payload.set("tracestate", json::literal_of(job.trace->tracestate()));
    }
    set_failures(payload, job, times);
    auto text = payload.text();
    if (text.size() > payload_max)
        return RefusedJob{
            job.id, "it has " + std::to_string(text.size()) + " bytes: at most 8388608 (8 MiB)"};
    return text;
}

std::string with_queue(std::string_view payload, std::string_view queue) {
    auto job = job_of(payload);
    if (!job || text_at(*job, "queue") == queue) return std::string{payload};
    job->set("queue", json::literal_of(queue));
    return job->text();
}

std::string with_call(std::string_view payload, TimePoint called_at, SidekiqTimes times) {
    auto job = job_of(payload);
    if (!job) return std::string{payload};
    job->set("pawl_called_at", time_number(called_at, times));
    return job->text();
}

std::string with_alone(std::string_view payload, int deaths) {
    auto job = job_of(payload);
    if (!job) return std::string{payload};
    job->set(alone_name, std::to_string(deaths));
    return job->text();
}

std::string without_alone(std::string_view payload) {
    auto job = job_of(payload);
    if (!job || !job->find(alone_name)) return std::string{payload};
    job->erase(alone_name);
    return job->text();
}

std::string with_failure(
    std::string_view payload, std::string_view error, TimePoint now, SidekiqTimes times
) {
    auto job = job_of(payload);
    if (!job) return std::string{payload};
    job->erase(alone_name);
    const auto text = base::sanitized_error(error);
    job->set("retry_count", std::to_string(failures_of(*job)));
    const bool first = !time_at(*job, "failed_at");
    if (first) job->erase("retried_at");  // Left from no failure; it would be read as the last one.
    job->set(first ? "failed_at" : "retried_at", time_number(now, times));
    job->set("error_message", json::literal_of(text));
    job->set("error_class", json::literal_of(our_error_class));
    job->erase("error_backtrace");  // Ruby's backtrace of the previous error.
    remember(*job, entry_of(now, "error", text));
    return job->text();
}

std::string with_merge(std::string_view payload, const Merge& merge, SidekiqTimes times) {
    auto job = job_of(payload);
    if (!job) return std::string{payload};
    job->erase("expiry");       // A person wants it to run.
    job->erase("retry_count");  // Resets the tries; keeps errors and history.
    job->erase(deaths_name);
    job->erase(alone_name);
    if (merge.forget_call) job->erase("pawl_called_at");
    job->set("enqueued_at", time_number(merge.now, times));
    remember(*job, entry_of(merge.now, "merged_by", base::sanitized_error(merge.by)));
    return job->text();
}

std::string with_cancel(std::string_view payload, const Cancel& cancel) {
    auto job = job_of(payload);
    if (!job) return std::string{payload};
    const auto by = base::sanitized_error(cancel.by);
    const auto text =
        base::sanitized_error("cancelled by " + by + ": " + std::string{cancel.reason});
    job->set("error_message", json::literal_of(text));
    job->set("error_class", json::literal_of(cancelled_class));
    job->erase("error_backtrace");
    remember(*job, entry_of(cancel.now, "cancelled_by", by));
    return job->text();
}

}  // namespace pawl::queue::sidekiq
