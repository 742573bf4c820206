#include "src/base/log_file.hpp"
#include "src/cli/doctor/checks.hpp"
#include "src/engine/engine.hpp"
#include "src/ops/service_impl.hpp"
#include "src/ops/service_options.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <string>

namespace pawl::cli {

namespace {

std::string ms(std::chrono::milliseconds time) {
    return std::to_string(time.count()) + " ms";
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
    else if (!installation.knows_secret() && patient.knows_operations)
        findings.fail(
            {.found = "the secret of this database is in a file, and none is given",
             .to_do = "Give --secret-file, as the servers get it; without it none starts."}
        );
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
