#include "src/queue/redis/job_scan.hpp"

#include "src/queue/redis/queue_depth.hpp"
#include "src/queue/redis/score_scan.hpp"
#include "src/queue/redis/scripts.hpp"
#include "src/redis/connection.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

namespace pawl::queue::sidekiq {

namespace {

using redis::Access;
using redis::Command;
using redis::Reply;
using redis::Shape;
using OnJob = std::function<bool(FoundJob job)>;

constexpr std::int64_t pushed_max = 10'000;  // While a list is read.

// A score that is no time of this century or so is clamped, not lost: scores come from anyone.
TimePoint time_of_score(std::string_view score, double ms_of_unit) {
    constexpr double ms_most = 253'402'300'799'999;
    double value = 0;
    std::from_chars(score.data(), score.data() + score.size(), value);
    const double ms = std::min(std::max(std::round(value * ms_of_unit), 0.0), ms_most);
    return TimePoint{std::chrono::milliseconds{static_cast<std::int64_t>(ms)}};
}

bool scan_work(redis::Client& client, const std::string& queue, const OnJob& f) {
    const auto key = "pawl:work:" + queue;
    std::string cursor{"0"};
    do {
        auto reply = client.ask(
            "redis work",
            {"HSCAN", key, cursor, "COUNT", std::to_string(scan_chunk)},
            Access::read,
            Shape::text_pairs
        );
        cursor = std::move(reply.items[0].text);
        auto& found = reply.items[1].items;
        if (found.empty()) continue;
        std::vector<Command> commands;
        for (std::size_t i = 0; i + 1 < found.size(); i += 2)
            commands.push_back({"ZSCORE", "pawl:leases:" + queue, found[i].text});
        const auto leases = client.ask_all("redis leases", commands, Access::read);
        for (std::size_t i = 0; i + 1 < found.size(); i += 2) {
            const auto& lease = leases.at(i / 2);
            client.expect("redis leases", lease, Shape::any);
            FoundJob job{.place = FoundJob::Place::work, .key = key, .queue = queue};
            job.token = std::move(found[i].text);
            if (!lease.is_nil()) job.lease_until = time_of_score(lease.text, 1);
            job.payload = std::move(found[i + 1].text);
            if (!f(std::move(job))) return false;
        }
    } while (cursor != "0");
    return true;
}

bool scan_set(redis::Client& client, const std::string& key, const OnJob& f) {
    ScoreScan scan{client, key, "-inf"};
    for (auto found = scan.next(); !found.empty(); found = scan.next())
        for (auto& [score, member, large] : found) {
            FoundJob job{.place = FoundJob::Place::set, .key = key};
            job.due = time_of_score(score, 1'000);
            job.payload = std::move(member);
            if (!f(std::move(job))) return false;
        }
    return true;
}

// From the end where jobs are pushed: a push shows some jobs again, but hides none unless more than
// pushed_max come. A list that grows as fast as it is read would be read for ever.
bool scan_list(
    redis::Client& client,
    const std::string& key,
    const std::string& queue,
    std::int64_t length,
    const OnJob& f
) {
    for (std::int64_t from = 0; from < length + pushed_max; from += scan_chunk) {
        auto found = client.ask(
            "redis list",
            {"LRANGE", key, std::to_string(from), std::to_string(from + scan_chunk - 1)},
            Access::read,
            Shape::texts
        );
        for (auto& payload : found.items) {
            FoundJob job{.place = FoundJob::Place::list, .key = key, .queue = queue};
            job.list_length = length;
            job.payload = std::move(payload.text);
            if (!f(std::move(job))) return false;
        }
        if (found.items.size() < scan_chunk) break;
    }
    return true;
}

bool scan_lists(redis::Client& client, const std::string& queue, const OnJob& f) {
    std::vector<Command> commands{{"LLEN", "queue:" + queue}};
    for (int failures = 1; failures <= retry_lists; ++failures)
        commands.push_back({"LLEN", retry_list(queue, failures)});
    const auto lengths = client.ask_all("redis list", commands, Access::read);
    for (std::size_t i = 0; i < commands.size(); ++i) {
        client.expect("redis list", lengths.at(i), Shape::integer);
        if (!scan_list(client, commands[i][1], queue, lengths[i].integer, f)) return false;
    }
    return true;
}

}  // namespace

void each_job(
    redis::Client& client, const std::set<std::string, std::less<>>& own, const OnJob& f
) {
    const auto queues = known_queues(client, own);
    for (const auto& queue : queues)
        if (!scan_work(client, queue, f)) return;
    for (const auto* key : {"schedule", "retry"})
        if (!scan_set(client, key, f)) return;
    for (const auto& queue : queues)
        if (!scan_lists(client, queue, f)) return;
    for (const auto& queue : queues)
        if (!scan_work(client, queue, f)) return;
}

}  // namespace pawl::queue::sidekiq
