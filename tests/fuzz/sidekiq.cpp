// A member of a Sidekiq list, which any program may have written. Every member is read as a job or
// dead_lettered, byte for byte if it is not a job; a failure, a call, a merge and a cancellation
// keep the other bytes unchanged; payloads that we write, we can read.
//
// The input is a payload. Text after a line "&" is an error text.

#include "src/base/error_text.hpp"
#include "src/base/text.hpp"
#include "src/base/time_text.hpp"
#include "src/json/members.hpp"
#include "src/queue/redis/payload.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <array>
#include <limits>
#include <optional>

namespace {

using namespace pawl;
using namespace pawl::queue;
using json::Members;

constexpr TimePoint now{std::chrono::milliseconds{1'800'000'000'123}};
constexpr sidekiq::PayloadDefaults unsaid{"mails", now};

// The members that our writers may change. All others keep their bytes.
constexpr std::array ours{
    "queue",
    "retry_count",
    "failed_at",
    "retried_at",
    "error_message",
    "error_class",
    "error_backtrace",
    "pawl_called_at",
    "pawl_history",
    "enqueued_at"};

std::string without_ours(std::string_view payload) {
    auto members = *json::members_of(payload);
    for (const auto* name : ours) members.erase(name);
    return members.text();
}

bool is_job(const ClaimedJob& job) {
    return !job.kind.empty();
}

// Text for a list of dead letters and for `pawl dlq show`.
void check_letter(std::string_view payload) {
    const auto letter = sidekiq::letter_of(payload, unsaid);
    PAWL_ASSERT(!letter.jid.empty() && !letter.queue.empty());
    PAWL_ASSERT(letter.failures >= 0);
    PAWL_ASSERT(json::items_of(letter.history).has_value());
    PAWL_ASSERT(
        letter.error_kind == base::error_kind(letter.error) || letter.error_kind == "cancelled"
    );
    for (const auto& at :
         {std::optional{letter.created_at},
          letter.called_at,
          letter.first_failed_at,
          letter.last_failed_at})
        if (at) PAWL_ASSERT(base::time_from_text(base::time_text(*at)) == at);
}

// Text for `pawl jobs`.
void check_listed(std::string_view payload) {
    const auto claimed = sidekiq::claimed_job_of(payload, unsaid);
    const auto listed = sidekiq::listed_job_of(payload, unsaid.queue);
    PAWL_ASSERT(listed.id == claimed.raw.jid && sidekiq::jid_of(payload) == listed.id);
    PAWL_ASSERT(listed.kind == claimed.kind && listed.args == claimed.raw.args);
    PAWL_ASSERT(is_job(claimed) || !listed.damaged.problem.empty());
}

void check_no_job(std::string_view payload, std::string_view error) {
    const auto times = redis::SidekiqTimes::seconds;
    PAWL_ASSERT(sidekiq::claimed_job_of(payload, unsaid).raw.args == payload);
    PAWL_ASSERT(sidekiq::with_failure(payload, error, now, times) == payload);
    PAWL_ASSERT(sidekiq::with_call(payload, now, times) == payload);
    PAWL_ASSERT(sidekiq::with_merge(payload, {"ann", now, true}, times) == payload);
    PAWL_ASSERT(sidekiq::with_cancel(payload, {"ann", error, now}) == payload);
    PAWL_ASSERT(sidekiq::with_queue(payload, "default") == payload);
}

// Compares all but the tries.
void check_same_job(const ClaimedJob& one, const ClaimedJob& other) {
    PAWL_ASSERT(one.raw.jid == other.raw.jid);
    PAWL_ASSERT(one.kind == other.kind);
    PAWL_ASSERT(one.raw.args == other.raw.args);
    PAWL_ASSERT(one.raw.key_id == other.raw.key_id);
    PAWL_ASSERT(one.queue == other.queue);
}

std::string check_failure(
    std::string_view payload, std::string_view error, redis::SidekiqTimes times
) {
    const auto before = sidekiq::claimed_job_of(payload, unsaid);
    auto failed = sidekiq::with_failure(payload, error, now, times);
    const auto after = sidekiq::claimed_job_of(failed, unsaid);
    check_same_job(before, after);
    PAWL_ASSERT(without_ours(failed) == without_ours(payload));
    PAWL_ASSERT(
        after.failures == before.failures + 1 ||
        before.failures == std::numeric_limits<int>::max() - 1
    );
    PAWL_ASSERT(after.raw.last_error == base::sanitized_error(error));
    PAWL_ASSERT(after.raw.last_failed_at == now);
    PAWL_ASSERT(after.called_at == before.called_at);
    if (before.raw.first_failed_at)
        PAWL_ASSERT(after.raw.first_failed_at == before.raw.first_failed_at);
    check_letter(failed);
    return failed;
}

void check_cancel(std::string_view payload, std::string_view reason) {
    const auto before = sidekiq::claimed_job_of(payload, unsaid);
    const auto cancelled = sidekiq::with_cancel(payload, {"ann", reason, now});
    const auto after = sidekiq::claimed_job_of(cancelled, unsaid);
    check_same_job(before, after);
    PAWL_ASSERT(without_ours(cancelled) == without_ours(payload));
    PAWL_ASSERT(after.failures == before.failures && after.called_at == before.called_at);
    PAWL_ASSERT(after.raw.last_failed_at == before.raw.last_failed_at);
    PAWL_ASSERT(sidekiq::letter_of(cancelled, unsaid).error_kind == "cancelled");
}

// Runs a job: taken, called, failed, failed again, dead, merged.
void check_job(std::string_view payload, std::string_view error) {
    const auto times = fuzz::Dice{payload}.below(2) == 0 ? redis::SidekiqTimes::seconds
                                                         : redis::SidekiqTimes::milliseconds;
    const auto first = sidekiq::claimed_job_of(payload, unsaid);
    const auto queued = sidekiq::with_queue(payload, unsaid.queue);
    PAWL_ASSERT(without_ours(queued) == without_ours(payload));
    check_same_job(first, sidekiq::claimed_job_of(queued, {"", now}));
    const auto called = sidekiq::with_call(queued, now, times);
    PAWL_ASSERT(sidekiq::claimed_job_of(called, unsaid).called_at == now);
    check_cancel(called, error);
    const auto failed = check_failure(called, error, times);
    const auto twice = check_failure(failed, "again", times);
    const auto merged = sidekiq::with_merge(twice, {"ann", now, true}, times);
    const auto last = sidekiq::claimed_job_of(merged, unsaid);
    check_same_job(first, last);
    PAWL_ASSERT(without_ours(merged) == without_ours(payload));
    PAWL_ASSERT(last.failures == 0 && !last.called_at);
    check_letter(merged);
}

// Uses the payload as the arguments of one of our jobs.
void check_ours(std::string_view args, std::string_view error) {
    StagedJob job;
    job.jid = "0123456789abcdef01234567";
    job.queue = "mails";
    job.kind = "send";
    job.args = args;
    job.failures = static_cast<int>(args.size() % 3);
    job.key_id = 42;
    job.created_at = now;
    if (job.failures > 0) {
        job.last_error = std::string{error};
        job.first_failed_at = job.last_failed_at = now;
    }
    for (const auto times : {redis::SidekiqTimes::seconds, redis::SidekiqTimes::milliseconds}) {
        const auto written = sidekiq::payload_of(job, now, times);
        const auto* text = std::get_if<std::string>(&written);
        PAWL_ASSERT((text != nullptr) == base::is_utf8(args));
        if (text == nullptr) continue;
        PAWL_ASSERT(json::is_json(*text));
        const auto read = sidekiq::claimed_job_of(*text, {"", TimePoint{}});
        PAWL_ASSERT(read.raw.jid == job.jid && read.kind == job.kind && read.queue == job.queue);
        PAWL_ASSERT(read.failures == job.failures && read.raw.key_id == job.key_id);
        PAWL_ASSERT(read.raw.created_at == now);
        const auto begin = args.find_first_not_of(" \t\r\n");
        // Space around it does not count then.
        const bool as_json = json::is_json(args, json::levels_max - 2);
        const auto end = args.find_last_not_of(" \t\r\n") + 1;
        PAWL_ASSERT(read.raw.args == (as_json ? args.substr(begin, end - begin) : args));
        if (job.last_error) PAWL_ASSERT(read.raw.last_error == base::sanitized_error(error));
    }
}

void check_time(std::string_view number) {
    const auto at = sidekiq::time_of_number(number);
    if (!at) return;
    PAWL_ASSERT(sidekiq::time_of_number(sidekiq::score_of(*at)) == at);
    for (const auto times : {redis::SidekiqTimes::seconds, redis::SidekiqTimes::milliseconds})
        PAWL_ASSERT(sidekiq::time_of_number(sidekiq::time_number(*at, times)) == at);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto [payload, error] = fuzz::cut_at(fuzz::text_of(data, size), "\n&\n");
    const auto job = sidekiq::claimed_job_of(payload, unsaid);
    PAWL_ASSERT(job.held == payload && !job.raw.jid.empty() && job.queue == unsaid.queue);
    PAWL_ASSERT(job.failures >= 0 && job.raw.attempt == job.failures + 1);
    check_letter(payload);
    check_listed(payload);
    if (is_job(job))
        check_job(payload, error);
    else
        check_no_job(payload, error);
    check_ours(payload, error);
    check_time(payload);
    return 0;
}
