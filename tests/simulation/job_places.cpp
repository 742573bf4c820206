#include "tests/simulation/job_places.hpp"

#include <pawl/detail/rows.hpp>

#include "tests/simulation/trade.hpp"

namespace pawl::simulation {

namespace {

constexpr Sql look_at_jobs{
    "simulation_jobs",
    "SELECT jid, kind, args FROM pawl_staged_jobs UNION ALL SELECT jid, kind, args FROM pawl_jobs "
    "UNION ALL SELECT jid, kind, args FROM pawl_dead_jobs UNION ALL SELECT '', '', who FROM "
    "parcels",
    {}};

}  // namespace

std::string who_in(std::string_view args) {
    const auto end = args.rfind('"');
    const auto begin = args.rfind('"', end - 1) + 1;
    return std::string{args.substr(begin, end - begin)};
}

void JobPlaces::inspect(store::Session& session) {
    for (auto& [jid, job] : jobs_) {
        job.in_database = 0;
        job.outside = false;
    }
    const auto at = [&](std::string_view jid, std::string_view kind, std::string_view args
                    ) -> Job& {
        return jobs_.try_emplace(
                        std::string{jid}, Job{std::string{kind}, std::string{args}}
        ).first->second;
    };
    session.run(look_at_jobs, {}, [&](const detail::Row& row) {
        if (row.text(0).empty())
            packed_.emplace(row.text(2));
        else
            ++at(row.text(0), row.text(1), row.text(2)).in_database;
    });
    for (const auto& [id, of] : broker_.jobs)
        at(of.job.jid, of.job.kind, of.job.args).outside = true;
    for (auto& [jid, job] : jobs_) judge(jid, job);
}

void JobPlaces::judge(const std::string& jid, Job& job) {
    const auto is = [&](std::string_view how) {
        asks_.wrong("the " + job.kind + " job of " + who_in(job.args) + std::string{how});
    };
    if (job.in_database > 1) is(" is in two places");
    if (job.in_database > 0 || job.outside) {
        // A server that slept over its claim may push to an external queue again what others have
        // sent.
        if (job.gone && !broker_.entries.contains(jid)) is(" came back after it was done");
        // With the queue in the database, mark and effect commit together.
        if (job.kind == Pack::kind && broker_.entries.empty() && has_effect(job))
            is(" is done, but is still there");
        return;
    }
    if (job.gone) return;
    job.gone = true;
    if (!has_effect(job) && !asks_.is_purged(job.kind, job.args)) is(" is lost");
}

bool JobPlaces::has_effect(const Job& job) const {
    const auto who = who_in(job.args);
    if (job.kind == Pack::kind) return packed_.contains(who);
    return (job.kind == Tell::kind ? mail_ : carrier_).effects.contains(who);
}

}  // namespace pawl::simulation
