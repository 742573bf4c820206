#include <pawl/detail/rows.hpp>

#include "src/base/clock.hpp"
#include "src/base/time_text.hpp"
#include "src/cli/doctor/checks.hpp"
#include "src/store/blocking.hpp"
#include "src/store/durability.hpp"
#include "store/doctor.hpp"

#include <linux/magic.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t mib = 1024 * 1024;
constexpr std::int64_t log_limit = 64 * mib;  // SQLite's journal_size_limit, as the server sets it.
constexpr std::int64_t free_least = 64 * mib;

struct StoredTime {
    std::string column;
    std::optional<TimePoint> at;
};

std::string seconds(std::chrono::milliseconds time) {
    auto text = std::to_string(static_cast<double>(time.count()) / 1000);
    return text.substr(0, text.size() - 3) + " s";
}

// A second may pass between two clocks that are right; by a minute, leases end too early or too
// late.
std::optional<Severity> severity_of(std::chrono::milliseconds off) {
    if (off > 1min) return Severity::error;
    if (off > 1s) return Severity::warning;
    return std::nullopt;
}

// How far the database's clock is from this machine's, at least: its reading came between two of
// ours.
std::chrono::milliseconds distance(TimePoint before, TimePoint there, TimePoint after) {
    if (there < before) return there - before;
    if (there > after) return there - after;
    return 0ms;
}

void check_stored_times(const Patient& patient, Findings& findings) {
    store::read_now(patient.store(), [&](store::Session& session) {
        std::vector<StoredTime> found;
        detail::run_statement(session, sql::doctor::newest_times, [&](const detail::Row& row) {
            found.push_back(detail::row_as<StoredTime>(row, sql::doctor::newest_times.name));
        });
        const auto now = session.now();
        for (const auto& [column, at] : found) {
            const auto severity = at ? severity_of(*at - now) : std::nullopt;
            if (!severity) continue;
            findings.add(
                *severity,
                {.found = "the newest " + column + ", " + base::time_text(*at) + ", is " +
                          seconds(*at - now) + " in the future",
                 .to_do = "A clock was wrong when it was written, or is wrong now: set it by NTP."}
            );
        }
    });
}

std::string gib(std::uint64_t bytes) {
    return std::to_string(bytes / static_cast<std::uint64_t>(mib)) + " MiB";
}

void check_free_space(const std::string& file, Findings& findings) {
    const auto space = std::filesystem::space(file);
    const auto percent =
        static_cast<double>(space.available) * 100 / static_cast<double>(space.capacity);
    const auto text = gib(space.available) + " of " + gib(space.capacity) +
                      " are free on the file system of " + file;
    const bool none = percent < 1 || space.available < static_cast<std::uint64_t>(free_least);
    if (!none && percent >= 10) return findings.ok(text);
    findings.add(
        none ? Severity::error : Severity::warning,
        {.found = text,
         .to_do = "Make room: on a full disk every request gets 503, docs/howto/sizing.md"}
    );
}

void check_log_size(const std::string& file, Findings& findings) {
    std::error_code none;
    const auto size = std::filesystem::file_size(file + "-wal", none);
    if (none) return;
    const auto text = "the write-ahead log " + file + "-wal has " + gib(size);
    if (size <= static_cast<std::uint64_t>(log_limit)) return findings.ok(text);
    findings.add(
        size > static_cast<std::uint64_t>(4 * log_limit) ? Severity::warning : Severity::note,
        {.found = text,
         .to_do = "A reader with an old snapshot keeps it from being moved into the database: end "
                  "the programs that hold the file open (fuser), such as a shell of sqlite3."}
    );
}

}  // namespace

void check_clock(const Patient& patient, Findings& findings) {
    const auto before = findings.size();
    auto& clock = base::system_clock();
    const auto asked = clock.now();
    const auto there =
        store::read_now(patient.store(), [](store::Session& session) { return session.now(); });
    const auto off = distance(asked, there, clock.now());
    if (const auto severity = severity_of(std::chrono::abs(off)))
        findings.add(
            *severity,
            {.found = "the database's clock is " + seconds(std::chrono::abs(off)) +
                      (off > 0ms ? " ahead of" : " behind") + " this machine's",
             .to_do = "Set both by NTP: stored times come from the database, and time-outs from "
                      "here."}
        );
    check_stored_times(patient, findings);
    if (findings.size() == before)
        findings.ok("the clocks agree, and no stored time is in the future");
}

void check_disk(const Patient& patient, Findings& findings) {
    const auto file = patient.store().file();
    if (!file.empty()) {
        check_free_space(file, findings);
        return check_log_size(file, findings);
    }
    if (!patient.on_postgres()) return findings.ok("the database is in memory");
    store::read_now(patient.store(), [&](store::Session& session) {
        detail::run_statement(session, sql::doctor::find_role, [&](const detail::Row& row) {
            findings.note(
                {.found = "the database has " + gib(static_cast<std::uint64_t>(row.integer(2))) +
                          "; the free space of its disk can't be seen from here",
                 .to_do = "Watch it on the database's machine."}
            );
        });
    });
}

void check_durability(const Patient& patient, Findings& findings) {
    if (patient.on_postgres()) {
        std::string off;
        store::read_now(patient.store(), [&](store::Session& session) {
            detail::run_statement(session, sql::doctor::durability, [&](const detail::Row& row) {
                off = row.text(0);
            });
        });
        if (off.empty())
            return findings.ok("fsync and full_page_writes are on");
        return findings.fail(
            {.found = store::text_of_settings_off(off),
             .to_do = "Set it to on before anything is served.",
             .code = "PAWL0009"}
        );
    }
    struct statfs system {};
    const auto file = patient.store().file();
    if (file.empty()) return findings.note({.found = "the database is in memory, for tests"});
    if (::statfs(file.c_str(), &system) != 0)
        return findings.fail({.found = "the file system of " + file + " can't be asked"});
    const auto kind = static_cast<unsigned long>(system.f_type);
    if (kind == TMPFS_MAGIC || kind == RAMFS_MAGIC)
        return findings.fail(
            {.found = file + " is on a file system in memory: a restart of the machine removes it",
             .to_do = "Move it to a disk.",
             .code = "PAWL0009"}
        );
    if (kind == NFS_SUPER_MAGIC || kind == SMB_SUPER_MAGIC || kind == SMB2_SUPER_MAGIC)
        return findings.fail(
            {.found =
                 file + " is on a network file system, whose locks and syncs SQLite can't trust",
             .to_do = "Move it to a disk of this machine, or use PostgreSQL."}
        );
    findings.ok("each commit is synced (synchronous = FULL), on a file system on disk");
}

}  // namespace pawl::cli
