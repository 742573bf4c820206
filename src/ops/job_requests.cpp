#include "src/ops/job_requests.hpp"

#include <pawl/detail/rows.hpp>
#include <pawl/json.hpp>

#include "src/engine/key_row.hpp"
#include "src/ops/key_acts.hpp"
#include "src/store/blocking.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace pawl::ops {

namespace {

using queue::AuditEntry;
using queue::JobRequest;

constexpr std::string_view held_by_cancel = "jobs cancel: ";
constexpr std::string_view held_by_purge = "dlq purge: ";

// A job's operation may have either scope, and `pawl` does not know it.
std::map<std::string, std::string> jids_by_hash(std::span<const std::string> jids) {
    std::map<std::string, std::string> found;
    for (const auto& jid : jids)
        for (const auto scope : {Scope::account, Scope::tenant})
            found.emplace(
                engine::key_hash(engine::key_identity(scope, principal_of_jobs(), jid)), jid
            );
    return found;
}

template <class Job>
void add_requests(store::Store& store, std::vector<Job>& jobs) {
    std::vector<std::string> jids;
    for (const auto& job : jobs) jids.push_back(job.jid);
    const auto requests = store::read_now(store, [&](store::Session& session) {
        return requests_of_jobs(session, jids);
    });
    for (auto& job : jobs)
        if (const auto at = requests.find(job.jid); at != requests.end()) job.request = at->second;
}

template <class Job>
std::optional<Job> with_request(store::Store& store, std::optional<Job> job) {
    if (!job) return job;
    std::vector<Job> one{std::move(*job)};
    add_requests(store, one);
    return std::move(one.front());
}

struct Held {
    int held{};
    std::set<std::string> at_work;  // Jids.
};

Held hold_requests(
    store::Store& store,
    std::span<const std::string> jids,
    const AuditEntry& act,
    std::string_view command
) {
    const AuditEntry why{act.by, std::string{command} + act.reason};
    return store::write_now(store, [&](store::Session& session) {
        Held done;
        for (const auto& [jid, request] : requests_of_jobs(session, jids)) {
            if (request.state == "running") done.at_work.insert(jid);
            if (act_on_key(session, KeyVerb::hold, request.id, why)) ++done.held;
        }
        return done;
    });
}

void release_cancelled(
    store::Store& store, std::span<const std::string> jids, const AuditEntry& act
) {
    store::write_now(store, [&](store::Session& session) {
        for (const auto& [jid, request] : requests_of_jobs(session, jids))
            if (request.held_why.starts_with(held_by_cancel))
                act_on_key(session, KeyVerb::release, request.id, act);
    });
}

}  // namespace

const Principal& principal_of_jobs() {
    static const Principal principal{.tenant = "pawl", .account = "jobs"};
    return principal;
}

std::map<std::string, JobRequest> requests_of_jobs(
    detail::Session& session, std::span<const std::string> jids
) {
    std::map<std::string, JobRequest> found;
    if (jids.empty()) return found;
    const auto by_hash = jids_by_hash(jids);
    std::vector<std::string> hashes;
    for (const auto& [hash, jid] : by_hash) hashes.push_back(hash);
    const auto add = [&](const detail::Row& row) {
        const auto at = by_hash.find(std::string{row.text(0)});
        if (at == by_hash.end()) return;
        found[at->second] = {
            row.integer(1),
            std::string{row.text(2)},
            row.is_null(3) ? std::string{} : std::string{row.text(3)},
            detail::column_as<TimePoint>(row, 4, sql::find_requests_of_jobs.name)};
    };
    detail::run_statement(session, sql::find_requests_of_jobs, add, to_json(hashes), session.now());
    return found;
}

std::optional<std::chrono::milliseconds> wait_for_request_of_job(
    store::Store& store, const std::string& jid, const RequestWait& wait
) {
    return store::read_now(
        store,
        [&](store::Session& session) -> std::optional<std::chrono::milliseconds> {
            const auto requests = requests_of_jobs(session, std::span{&jid, 1});
            if (requests.empty()) return std::nullopt;
            const auto& request = requests.begin()->second;
            if (request.state == "finished") return std::nullopt;
            const auto age =
                std::chrono::floor<std::chrono::milliseconds>(session.now() - request.created_at);
            return std::clamp(age, wait.least, wait.most);
        }
    );
}

std::vector<queue::DeadLetter> RequestsOfDeadLetters::page(
    const queue::DeadLetterFilter& filter, const std::string& after, int limit
) {
    auto letters = letters_.page(filter, after, limit);
    listed_.remember(letters);
    add_requests(store_, letters);
    return letters;
}

std::optional<queue::DeadLetter> RequestsOfDeadLetters::find(const std::string& id) {
    return with_request(store_, letters_.find(id));
}

queue::PurgeResult RequestsOfDeadLetters::purge(
    std::span<const std::string> ids, const AuditEntry& act
) {
    const auto jids = listed_.of(ids, letters_);
    const auto [held, at_work] = hold_requests(store_, jids, act, held_by_purge);
    std::vector<std::string> rest;
    for (std::size_t i = 0; i < ids.size(); ++i)
        if (!at_work.contains(jids[i])) rest.push_back(ids[i]);
    auto result = letters_.purge(rest, act);
    result.held = held;
    result.at_work = static_cast<int>(ids.size() - rest.size());
    return result;
}

queue::PurgeResult RequestsOfDeadLetters::merge(
    std::span<const std::string> ids,
    const AuditEntry& act,
    std::optional<TimePoint> remembered_since
) {
    release_cancelled(store_, listed_.of(ids, letters_), act);
    return letters_.merge(ids, act, remembered_since);
}

std::vector<queue::ListedJob> RequestsOfJobs::page(
    const queue::JobFilter& filter, const std::string& after, int limit
) {
    auto jobs = jobs_.page(filter, after, limit);
    listed_.remember(jobs);
    add_requests(store_, jobs);
    return jobs;
}

std::optional<queue::ListedJob> RequestsOfJobs::find(const std::string& id) {
    return with_request(store_, jobs_.find(id));
}

// A worker may be at the first transaction of a request: so they are held again after the
// cancellation, which no worker outlives.
queue::CancelResult RequestsOfJobs::cancel(
    std::span<const std::string> ids, const AuditEntry& act
) {
    const auto jids = listed_.of(ids, jobs_);
    const auto before = hold_requests(store_, jids, act, held_by_cancel);
    auto result = jobs_.cancel(ids, act);
    const auto after = hold_requests(store_, jids, act, held_by_cancel);
    result.held = before.held + after.held;
    result.at_work = static_cast<int>(after.at_work.size());
    return result;
}

}  // namespace pawl::ops
