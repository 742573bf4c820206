#include "src/queue/redis/redis_queue.hpp"

#include <pawl/detail/rows.hpp>

#include "src/core/claim_rule.hpp"
#include "src/core/fault.hpp"
#include "src/queue/inbox.hpp"
#include "src/queue/redis/payload.hpp"
#include "src/queue/redis/scripts.hpp"
#include "src/redis/connection.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <charconv>
#include <span>
#include <stdexcept>
#include <utility>

namespace pawl::queue {

using redis::Access;
using redis::Command;
using redis::Reply;
using redis::Shape;
namespace scripts = sidekiq::scripts;

namespace {

constexpr int due_batch = 100;                   // Due jobs moved to their queues by one take.
constexpr int bytes_batch = 16 * 1'024 * 1'024;  // Bytes claimed, and moved, by one take.
constexpr int rescue_batch = 100;
constexpr int passed_over_max = 1'000;  // Jobs of kinds that a claim leaves out.

std::string text_of(std::chrono::milliseconds time) {
    return std::to_string(time.count());
}

std::int64_t number_of(std::string_view text) {
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

bool is_one(const Reply& reply) {
    return reply.integer == 1;
}

std::optional<TimePoint> first_due(const Reply& reply) {
    if (reply.items.size() != 2) return std::nullopt;
    auto score = reply.items[1].text;
    if (score.starts_with('-')) return TimePoint{};  // Negative: due since 1970 or before.
    // A score without a fraction is seconds, too.
    if (score.find_first_of(".e") == score.npos) score += ".0";
    return sidekiq::time_of_number(score);
}

}  // namespace

RedisQueue::RedisQueue(redis::Client& client, std::string name, core::QueueLimits limits)
    : client_{client},
      name_{std::move(name)},
      queue_{"queue:" + name_},
      work_{"pawl:work:" + name_},
      leases_{"pawl:leases:" + name_},
      rate_{"pawl:rate:" + name_},
      limits_{limits} {
    if (name_.empty()) throw std::invalid_argument{"the name of a queue is empty"};
}

std::vector<ClaimedJob> RedisQueue::claim(
    int limit, std::chrono::milliseconds lease, const ClaimFilter& filter
) {
    std::vector<std::string> keys{
        queue_, "schedule", "retry", "pawl:claims", work_, leases_, "queues", rate_};
    const int first = filter.failures_min.value_or(0);
    const int last = filter.failures_max.value_or(sidekiq::retry_lists);
    if (first <= 0) keys.push_back(queue_);
    for (int failures = std::max(first, 1); failures <= last; ++failures)
        keys.push_back(sidekiq::retry_list(name_, failures));
    std::vector<std::string> arguments{
        client_.given_now(),
        text_of(lease),
        std::to_string(limit),
        std::to_string(due_batch),
        std::to_string(bytes_batch),
        std::to_string(passed_over_max),
        name_,
        std::to_string(sidekiq::retry_lists),
        std::to_string(limits_.running_max),
        std::to_string(limits_.token_each.count()),
        std::to_string(limits_.burst),
        filter.retries_only() ? "retries" : "all"};
    arguments.insert(arguments.end(), filter.without_kinds.begin(), filter.without_kinds.end());
    const auto reply = client_.run(scripts::take, keys, arguments);
    const auto now = TimePoint{std::chrono::milliseconds{number_of(reply.items[0].text)}};
    held_back_.set(filter, std::chrono::milliseconds{number_of(reply.items[2].text)});
    const auto& found = reply.items[1].items;
    std::vector<ClaimedJob> jobs;
    for (std::size_t i = 0; i + 1 < found.size(); i += 2) {
        auto job = sidekiq::claimed_job_of(found[i + 1].text, {name_, now});
        job.id = found[i].text;
        job.claim = number_of(job.id);  // Parses the digits before the dash.
        job.held = sidekiq::with_queue(job.held, name_);
        jobs.push_back(std::move(job));
    }
    PAWL_FAULT("redis.take.after");
    return jobs;
}

bool RedisQueue::renew(const ClaimedJob& job, std::chrono::milliseconds lease) {
    return is_one(
        client_.run(scripts::renew, {leases_}, {client_.given_now(), text_of(lease), job.id})
    );
}

FinishResult RedisQueue::finish_in_transaction(detail::Session& session, const ClaimedJob& job) {
    const auto inserted = detail::run_statement(
        session, sql::insert_done, [](const detail::Row&) {}, job.raw.jid, session.now()
    );
    return inserted == 1 ? FinishResult::done : FinishResult::done_before;
}

bool RedisQueue::done_before(detail::Session& session, const ClaimedJob& job) {
    return is_in_inbox(session, job.raw.jid);
}

void RedisQueue::finished(const ClaimedJob& job) {
    // If the lease was lost, the worker that has it now finds the job done before.
    (void)finish(job);
}

bool RedisQueue::finish(const ClaimedJob& job) {
    PAWL_FAULT("redis.finish.before");
    const bool finished = is_one(client_.run(scripts::finish, {leases_, work_}, {job.id}));
    PAWL_FAULT("redis.finish.after");
    return finished;
}

bool RedisQueue::reschedule(
    const ClaimedJob& job, std::chrono::milliseconds wait, const std::optional<std::string>& error
) {
    const auto times = client_.options().times;
    const auto now = client_.now();
    auto payload = job.held;
    if (error)
        payload = sidekiq::with_failure(job.held, *error, now, times);
    else if (job.deaths_before_alone)
        payload = sidekiq::without_alone(job.held);
    const std::string to = error ? "retry" : "schedule";
    PAWL_FAULT("redis.reschedule.before");
    const bool put = is_one(client_.run(
        scripts::reschedule,
        {leases_, work_, to},
        {job.id, sidekiq::score_of(now + wait), std::move(payload)}
    ));
    PAWL_FAULT("redis.reschedule.after");
    return put;
}

bool RedisQueue::dead_letter(const ClaimedJob& job, const std::string& error) {
    auto payload = sidekiq::with_failure(job.held, error, client_.now(), client_.options().times);
    PAWL_FAULT("redis.dead_letter.before");
    const bool dead_lettered = is_one(client_.run(
        scripts::dead_letter,
        {leases_, work_, "dead"},
        {client_.given_now(), job.id, std::move(payload)}
    ));
    PAWL_FAULT("redis.dead_letter.after");
    return dead_lettered;
}

bool RedisQueue::mark_called(ClaimedJob& job) {
    const auto first = job.called_at ? *job.called_at : client_.now();
    const auto payload = job.called_at
                             ? std::string{}
                             : sidekiq::with_call(job.held, first, client_.options().times);
    if (!is_one(client_.run(scripts::call, {leases_, work_}, {job.id, payload}))) return false;
    job.called_at = first;
    if (!payload.empty()) job.held = payload;
    return true;
}

bool RedisQueue::begin_alone(ClaimedJob& job) {
    auto payload = sidekiq::with_alone(job.held, job.deaths);
    if (!is_one(client_.run(scripts::call, {leases_, work_}, {job.id, payload}))) return false;
    job.held = std::move(payload);
    job.deaths_before_alone = job.deaths;
    return true;
}

std::vector<bool> RedisQueue::still_held(const std::vector<ClaimedJob>& jobs) {
    std::vector<Command> commands;
    for (const auto& job : jobs) commands.push_back({"ZSCORE", leases_, job.id});
    std::vector<bool> held;
    for (const auto& reply : client_.ask_all("redis still_held", commands, Access::read)) {
        client_.expect("redis still_held", reply, Shape::any);
        held.push_back(!reply.is_nil());
    }
    return held;
}

int RedisQueue::rescue(std::chrono::milliseconds lease) {
    const auto bound = core::lease_bound(TimePoint{}, lease).time_since_epoch();
    for (int rescued = 0;;) {
        const auto reply = client_.run(
            scripts::rescue,
            {leases_, work_, queue_, "retry"},
            {client_.given_now(), text_of(bound), std::to_string(rescue_batch)}
        );
        rescued += static_cast<int>(reply.items[1].integer);
        if (reply.items[0].integer < rescue_batch) return rescued;
    }
}

std::optional<TimePoint> RedisQueue::next_due() {
    std::vector<Command> commands{
        {"ZRANGE", "schedule", "0", "0", "WITHSCORES"},
        {"ZRANGE", "retry", "0", "0", "WITHSCORES"},
        {"LLEN", queue_}};
    for (int failures = 1; failures <= sidekiq::retry_lists; ++failures)
        commands.push_back({"LLEN", sidekiq::retry_list(name_, failures)});
    const auto replies = client_.ask_all("redis next_due", commands, Access::read);
    for (const auto& length : std::span{replies}.subspan(2)) {
        client_.expect("redis next_due", length, Shape::integer);
        if (length.integer > 0) return client_.now();
    }
    client_.expect("redis next_due", replies[0], Shape::pairs);
    client_.expect("redis next_due", replies[1], Shape::pairs);
    const auto scheduled = first_due(replies[0]);
    const auto retried = first_due(replies[1]);
    if (scheduled && retried) return std::min(*scheduled, *retried);
    return scheduled ? scheduled : retried;
}

}  // namespace pawl::queue
