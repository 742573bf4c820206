#include "src/queue/redis/redis_jobs.hpp"

#include <pawl/detail/json.hpp>

#include "src/core/fault.hpp"
#include "src/queue/audit.hpp"
#include "src/queue/redis/job_scan.hpp"
#include "src/queue/redis/payload.hpp"
#include "src/queue/redis/scripts.hpp"
#include "src/redis/connection.hpp"
#include "src/store/blocking.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace pawl::queue {

using redis::Command;
using sidekiq::FoundJob;
namespace scripts = sidekiq::scripts;

namespace {

using Names = std::set<std::string, std::less<>>;
using JobIds = std::set<std::string>;
using Place = FoundJob::Place;

constexpr std::size_t act_bytes = std::size_t{4} << 20U;
constexpr std::int64_t act_comparisons = 1'000'000;  // Redis makes so many in some 30 ms.
constexpr int cancel_rounds = 3;                     // For jobs that move between read and act.

// A job of a cancel or retry, and where it was found; one of several places, if it has moved.
struct ChosenJob {
    std::string id;
    FoundJob found;
};

ListedJob listed(FoundJob found, TimePoint now) {
    auto job = sidekiq::listed_job_of(found.payload, found.queue);
    job.run_at = found.due;
    job.lease_until = found.lease_until;
    job.tries = job.failures + (found.place == Place::work ? 1 : 0);
    if (found.place == Place::work)
        job.state = "running";
    else if (found.place == Place::list || found.due <= now)
        job.state = "due";
    else
        job.state = job.failures > 0 ? "retrying" : "later";
    return job;
}

std::vector<ChosenJob> choose(redis::Client& client, const Names& names, const JobIds& ids) {
    std::vector<ChosenJob> chosen;
    std::set<std::tuple<std::string, std::string, std::string>> seen;
    sidekiq::each_job(client, names, [&](FoundJob found) {
        auto id = sidekiq::jid_of(found.payload);
        if (ids.contains(id) && seen.emplace(found.key, found.token, found.payload).second)
            chosen.push_back({std::move(id), std::move(found)});
        return true;
    });
    return chosen;
}

JobIds ids_of(const std::vector<ChosenJob>& chosen) {
    JobIds ids;
    for (const auto& one : chosen) ids.insert(one.id);
    return ids;
}

struct JobsAuditDetail {
    std::string reason;
    std::vector<std::string> jobs;
};

void audit_act(
    store::Store& store, const AuditEntry& act, std::string_view action, const JobIds& ids
) {
    const auto text = detail::encode(JobsAuditDetail{act.reason, {ids.begin(), ids.end()}});
    store::write_now(store, [&](store::Session& session) {
        queue::audit(session, act.by, action, text);
    });
}

// Runs the script in steps over the arguments that `words` gives for each job, after the time;
// calls `done` with the jobs for which it returns 1.
void run_in_steps(
    redis::Client& client,
    const redis::Script& script,
    const Command& keys,
    const std::vector<ChosenJob>& chosen,
    const std::function<Command(const ChosenJob&)>& words,
    const std::function<void(const ChosenJob&)>& done
) {
    for (std::size_t at = 0; at < chosen.size();) {
        Command arguments{client.given_now()};
        std::size_t bytes = 0;
        std::int64_t comparisons = 0;
        const auto first = at;
        do {
            for (auto& word : words(chosen[at])) {
                bytes += word.size();
                arguments.push_back(std::move(word));
            }
            comparisons += chosen[at].found.list_length;
            ++at;
        } while (at < chosen.size() && bytes < act_bytes && comparisons < act_comparisons);
        const auto reply = client.run(script, keys, arguments);
        for (std::size_t i = first; i < at; ++i)
            if (i - first < reply.items.size() && reply.items[i - first].integer == 1)
                done(chosen[i]);
    }
}

std::string name_of(Place place) {
    return place == Place::work ? "work" : place == Place::set ? "set" : "list";
}

}  // namespace

RedisJobs::RedisJobs(redis::Client& client, store::Store& store, Names names)
    : client_{client}, store_{store}, names_{std::move(names)} {}

std::vector<ListedJob> RedisJobs::page(
    const JobFilter& filter, const std::string& after, int limit
) {
    const auto most = static_cast<std::size_t>(std::max(limit, 0));
    const auto now = client_.now();
    std::map<std::string, ListedJob> first;  // The smallest ids of those found so far.
    sidekiq::each_job(client_, names_, [&](FoundJob found) {
        auto job = listed(std::move(found), now);
        if (job.id <= after || !is_selected(job, filter)) return true;
        auto id = job.id;
        first.try_emplace(std::move(id), std::move(job));
        if (first.size() > most) first.erase(std::prev(first.end()));
        return true;
    });
    std::vector<ListedJob> jobs;
    for (auto& [id, job] : first) jobs.push_back(std::move(job));
    return jobs;
}

std::optional<ListedJob> RedisJobs::find(const std::string& id) {
    const auto now = client_.now();
    std::optional<ListedJob> job;
    // Twice, as a job that moves may be missed.
    for (int round = 0; round < 2 && !job; ++round)
        sidekiq::each_job(client_, names_, [&](FoundJob found) {
            if (sidekiq::jid_of(found.payload) == id) job = listed(std::move(found), now);
            return !job;
        });
    return job;
}

CancelResult RedisJobs::cancel(std::span<const std::string> ids, const AuditEntry& act) {
    JobIds left{ids.begin(), ids.end()};
    JobIds cancelled, running, audited;
    for (int round = 0; round < cancel_rounds && !left.empty(); ++round) {
        const auto chosen = choose(client_, names_, left);
        if (chosen.empty() && round > 0) break;
        JobIds unaudited;
        for (const auto& id : ids_of(chosen))
            if (audited.insert(id).second) unaudited.insert(id);
        if (!unaudited.empty()) audit_act(store_, act, "cancel", unaudited);
        PAWL_FAULT("redis.cancel.before");
        std::map<std::string, int> copies;  // Of each job, that are still there.
        for (const auto& one : chosen) ++copies[one.id];
        const sidekiq::Cancel as{act.by, act.reason, client_.now()};
        run_in_steps(
            client_,
            scripts::cancel,
            {"dead"},
            chosen,
            [&](const ChosenJob& one) {
                const auto& at = one.found;
                // A merge returns the job to the queue that it was in.
                const auto payload =
                    at.queue.empty() ? at.payload : sidekiq::with_queue(at.payload, at.queue);
                return Command{
                    name_of(at.place),
                    at.key,
                    "pawl:leases:" + at.queue,
                    at.token,
                    at.payload,
                    sidekiq::with_cancel(payload, as)};
            },
            [&](const ChosenJob& one) {
                cancelled.insert(one.id);
                if (--copies[one.id] == 0) left.erase(one.id);
                if (one.found.place == Place::work) running.insert(one.id);
            }
        );
        PAWL_FAULT("redis.cancel.after");
    }
    const auto count = static_cast<int>(cancelled.size());
    return {count, static_cast<int>(running.size()), static_cast<int>(ids.size()) - count};
}

RetryResult RedisJobs::retry_now(std::span<const std::string> ids, const AuditEntry& act) {
    const auto now = client_.now();
    auto chosen = choose(client_, names_, {ids.begin(), ids.end()});
    std::erase_if(chosen, [&](const ChosenJob& one) {
        return !one.found.due || *one.found.due <= now;
    });
    JobIds due;
    if (!chosen.empty()) {
        audit_act(store_, act, "retry", ids_of(chosen));
        PAWL_FAULT("redis.retry.before");
        run_in_steps(
            client_,
            scripts::due_now,
            {},
            chosen,
            [](const ChosenJob& one) {
                return Command{one.found.key, one.found.payload};
            },
            [&](const ChosenJob& one) { due.insert(one.id); }
        );
        PAWL_FAULT("redis.retry.after");
    }
    const auto count = static_cast<int>(due.size());
    return {count, static_cast<int>(ids.size()) - count};
}

}  // namespace pawl::queue
