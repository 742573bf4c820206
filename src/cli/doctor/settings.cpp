#include <pawl/detail/rows.hpp>

#include "src/base/log_file.hpp"
#include "src/cli/doctor/checks.hpp"
#include "src/engine/engine.hpp"
#include "src/ops/service_impl.hpp"
#include "src/ops/service_options.hpp"
#include "src/store/blocking.hpp"
#include "store/doctor.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <string>

namespace pawl::cli {

namespace {

std::string ms(std::chrono::milliseconds time) {
    return std::to_string(time.count()) + " ms";
}

// The secrets that this program lacks, of those that are in use.
std::string missing_secrets(const Patient& patient) {
    std::string missing;
    store::read_now(patient.store(), [&](store::Session& session) {
        auto& engine = patient.service.engine();
        for (const auto version : ops::secrets_in_use(session, engine))
            if (!engine.installation().secrets.contains(version))
                missing += (missing.empty() ? "" : ", ") + std::to_string(version);
    });
    return missing;
}

// Without the right file no server starts (PAWL0024).
void check_secret_in_use(const Patient& patient, Findings& findings) {
    const auto& file = patient.service.options().secret_file;
    if (file.empty() && !patient.service.engine().installation().knows_secret())
        return findings.fail(
            {.found = "the secret of this database is in a file, and none is given",
             .to_do = "Give --secret-file, as the servers get it; without it none starts.",
             .code = engine::secret_missing}
        );
    const auto missing = missing_secrets(patient);
    if (missing.empty()) return;
    findings.fail(
        {.found = "the secret file " + file + " lacks the secret in use (version " + missing + ")",
         .to_do = "No server starts with this file: give the one of the servers.",
         .code = engine::secret_missing}
    );
}

struct KeysOfSecret {
    int version{};
    std::int64_t open{};
    std::int64_t finished{};
};

// The keys that this file can't compare, and those that it could not without one of its lines.
void check_keys_of_secrets(const Patient& patient, Findings& findings) {
    const auto& known = patient.service.engine().installation();
    store::read_now(patient.store(), [&](store::Session& session) {
        const auto& statement = sql::doctor::count_keys_by_secret;
        detail::run_statement(session, statement, [&](const detail::Row& row) {
            const auto found = detail::row_as<KeysOfSecret>(row, statement.name);
            const auto keys = std::to_string(found.open) + " open and " +
                              std::to_string(found.finished) +
                              " finished keys were stored under the secret of version " +
                              std::to_string(found.version);
            if (!known.secrets.contains(found.version))
                findings.warn(
                    {.found = keys + ", which this file lacks",
                     .to_do = "Their repeats get 503: keep the secret as a line of the file until "
                              "they have expired, docs/howto/secrets.md",
                     .code = engine::secret_missing}
                );
            else if (found.version != known.secret_version())
                findings.note(
                    {.found = keys + ", which is not the one in the first line",
                     .to_do = "Keep it in the file until they have expired."}
                );
        });
    });
}

void check_secret(const Patient& patient, Findings& findings) {
    const auto& installation = patient.service.engine().installation();
    const auto& options = patient.service.options();
    if (installation.name.empty()) return;  // A database without tables.
    if (installation.new_secrets > 0)
        findings.warn(
            {.found = "the secret file has " + std::to_string(installation.new_secrets) +
                      " secrets that the database does not know",
             .to_do = "Right for a change of the secret, with the old one in the next line: "
                      "docs/howto/secrets.md. Otherwise it is another database's file."}
        );
    else if (installation.knows_secret() && options.secret_file.empty())
        findings.note(
            {.found = "the secret of fingerprints is in the database",
             .to_do = "Who reads a backup has it; --secret-file keeps it apart: "
                      "docs/howto/secrets.md"}
        );
    if (!patient.knows_operations) return;
    check_secret_in_use(patient, findings);
    if (!options.secret_file.empty()) check_keys_of_secrets(patient, findings);
}

void check_file(const char* what, const std::string& path, Findings& findings) {
    struct stat found {};
    if (path.empty() || ::stat(path.c_str(), &found) != 0) return;
    const std::string name = std::string{what} + " " + path;
    if ((found.st_mode & S_IWOTH) != 0)
        findings.fail(
            {.found = "every user of this machine can write " + name,
             .to_do = "chmod o-rwx " + path,
             .code = "PAWL0015"}
        );
    else if ((found.st_mode & S_IROTH) != 0)
        findings.warn(
            {.found = "every user of this machine can read " + name,
             .to_do = "chmod o-rwx " + path,
             .code = "PAWL0015"}
        );
}

// A user who can write a folder can replace its files; the sticky bit of /tmp forbids that.
void check_folder(const std::string& path, Findings& findings) {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) return;
    if ((found.st_mode & S_IWOTH) == 0 || (found.st_mode & S_ISVTX) != 0) return;
    findings.fail(
        {.found = "every user of this machine can replace the database in " + path,
         .to_do = "chmod o-w " + path,
         .code = "PAWL0015"}
    );
}

}  // namespace

void check_settings(const Patient& patient, Findings& findings) {
    const auto before = findings.size();
    const auto& options = patient.service.options();
    if (patient.knows_operations && ops::drain_is_short(options))
        findings.warn(
            {.found = "a stop waits for " + ms(options.drain_time()) + ", and a call may take " +
                      ms(options.call_timeout),
             .to_do =
                 "Calls that a stop cuts off stay in doubt: let drain be at least call_timeout, "
                 "docs/howto/deploys.md"}
        );
    check_secret(patient, findings);
    if (findings.size() == before)
        findings.ok(
            "lease " + ms(options.lease) + ", phase_deadline " + ms(options.phase_deadline) +
            ", call_timeout " + ms(options.call_timeout) + ", drain " + ms(options.drain_time())
        );
}

void check_files(const Patient& patient, Findings& findings) {
    const auto before = findings.size();
    const auto& options = patient.service.options();
    check_file("the secret file", options.secret_file, findings);
    const auto& marks = options.mark_file;
    check_file(
        "the mark file",
        marks.empty() ? patient.service.impl().database.mark_file() : marks,
        findings
    );
    if (const auto file = patient.store().file(); !file.empty()) {
        check_folder(std::filesystem::path{file}.parent_path().string(), findings);
        check_file("the database", file, findings);
        check_file("the database's log", file + "-wal", findings);
        check_file("the index of the database's log", file + "-shm", findings);
    }
    if (findings.size() == before) findings.ok("no file of ours is open to other users");
}

}  // namespace pawl::cli
