#include <pawl/detail/rows.hpp>

#include "src/base/clock.hpp"
#include "src/cli/doctor/checks.hpp"
#include "src/store/blocking.hpp"
#include "store/doctor.hpp"

#include <chrono>
#include <cstdint>
#include <set>
#include <string>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t old_after_s = 60;
constexpr std::int64_t dead_rows_least = 10'000;
// Servers on PostgreSQL beat three times a second, and others remove one after ten seconds.
constexpr std::chrono::seconds silent_after{60};

template <class F, class... A>
void each_row(const Patient& patient, const Sql& statement, F each, const A&... arguments) {
    store::read_now(patient.store(), [&](store::Session& session) {
        detail::run_statement(
            session, statement, [&](const detail::Row& row) { each(row); }, arguments...
        );
    });
}

std::string text(const detail::Row& row, int column) {
    return std::string{row.text(column)};
}

void check_transactions(const Patient& patient, Findings& findings) {
    each_row(
        patient,
        sql::doctor::list_old_snapshots,
        [&](const detail::Row& row) {
            const auto what = text(row, 0);
            const bool slot = what == "a replication slot";
            findings.warn(
                {.found = what + " (" + text(row, 2) + ") is " + std::to_string(row.integer(1)) +
                          (slot ? " transactions" : " s") +
                          " old, and keeps VACUUM from removing dead rows",
                 .to_do = slot ? "Start its standby, or drop it: pg_drop_replication_slot()"
                          : what == "a prepared transaction"
                              ? "COMMIT PREPARED or ROLLBACK PREPARED it."
                              : "End it: pg_terminate_backend(pid); claims of jobs get slower "
                                "meanwhile."}
            );
        },
        old_after_s
    );
}

void check_dead_rows(const Patient& patient, Findings& findings) {
    each_row(
        patient,
        sql::doctor::list_dead_rows,
        [&](const detail::Row& row) {
            findings.warn(
                {.found = text(row, 0) + " has " + std::to_string(row.integer(1)) +
                          " dead rows and " + std::to_string(row.integer(2)) + " living ones",
                 .to_do =
                     "Find what holds an old snapshot, or why autovacuum does not come; VACUUM " +
                     text(row, 0)}
            );
        },
        dead_rows_least
    );
}

}  // namespace

void check_role(const Patient& patient, Findings& findings) {
    if (!patient.on_postgres()) return findings.ok("a file has no roles");
    const auto before = findings.size();
    std::string role;
    each_row(patient, sql::doctor::find_role, [&](const detail::Row& row) {
        role = text(row, 0);
        if (row.integer(1) == 0) return;
        findings.note(
            {.found = "the role " + role + " is a superuser",
             .to_do = "A server needs only rights on its tables: docs/howto/production_postgres.md"}
        );
    });
    each_row(patient, sql::doctor::list_missing_rights, [&](const detail::Row& row) {
        findings.fail(
            {.found = "the role " + role + " lacks " + text(row, 1) + " on " + text(row, 0),
             .to_do = "GRANT it as the owner of the table: docs/howto/production_postgres.md"}
        );
    });
    if (findings.size() == before) findings.ok("the role " + role + " has the rights of a server");
}

void check_snapshots(const Patient& patient, Findings& findings) {
    if (!patient.on_postgres()) return findings.ok("see disk: the size of the write-ahead log");
    const auto before = findings.size();
    check_transactions(patient, findings);
    check_dead_rows(patient, findings);
    if (findings.size() == before)
        findings.ok("no snapshot is older than 60 s, and the tables have few dead rows");
}

void check_servers(const Patient& patient, Findings& findings) {
    const auto before = findings.size();
    std::set<std::string> versions;
    store::read_now(patient.store(), [&](store::Session& session) {
        const auto now = session.now();
        detail::run_statement(session, sql::doctor::list_beats, [&](const detail::Row& row) {
            const auto& name = sql::doctor::list_beats.name;
            versions.insert(text(row, 2));
            const auto silent = now - detail::column_as<TimePoint>(row, 3, name);
            // The one server of a file does not beat.
            if (!patient.on_postgres() || silent < silent_after) return;
            findings.warn(
                {.found = "the server " + std::to_string(row.integer(0)) + " on " + text(row, 1) +
                          " has not beaten for " + std::to_string(silent / 1s) + " s",
                 .to_do = "No other server runs, or it would have ended this one: start one."}
            );
        });
    });
    std::string all;
    for (const auto& version : versions) all += (all.empty() ? "" : ", ") + version;
    if (versions.size() > 1)
        findings.note(
            {.found = "servers of several versions run: " + all,
             .to_do = "Right during a deploy; afterwards stop the older ones."}
        );
    if (findings.size() == before)
        findings.ok(all.empty() ? "no server runs" : "the servers run version " + all);
}

}  // namespace pawl::cli
