#include "src/cli/doctor/doctor.hpp"

#include "src/cli/doctor/checks.hpp"
#include "src/cli/output.hpp"
#include "src/core/ascii.hpp"
#include "src/engine/engine.hpp"
#include "src/ops/service_impl.hpp"
#include "src/store/migrate.hpp"

#include <exception>
#include <string>

namespace pawl::cli {

namespace {

struct Check {
    std::string_view name;
    void (*run)(const Patient&, Findings&);
};

constexpr Check checks[] = {
    {"migrations", &check_migrations},
    {"open_points", &check_open_points},
    {"open_jobs", &check_open_jobs},
    {"held_keys", &check_held_keys},
    {"settings", &check_settings},
    {"files", &check_files},
    {"clock", &check_clock},
    {"disk", &check_disk},
    {"durability", &check_durability},
    {"role", &check_role},
    {"queue", &check_queue},
    {"snapshots", &check_snapshots},
    {"servers", &check_servers},
    {"servers", &check_server_settings},
};

// "PAWL0011" of a text that begins with it.
std::string_view code_in(std::string_view text) {
    constexpr std::size_t length = 8;
    constexpr std::string_view codes =
        "PAWL0002 PAWL0003 PAWL0004 PAWL0005 PAWL0008 PAWL0011 PAWL0016 PAWL0022";
    for (const auto known : core::words_of(codes))
        if (text.substr(0, length) == known || text.find(known) != text.npos) return known;
    return {};
}

bool migrations_pending(const Patient& patient) {
    for (const auto& [owner, scripts] : patient.service.impl().database.migrations())
        if (!store::compare_migrations(patient.store(), owner, scripts).pending.empty())
            return true;
    return false;
}

Finding did_not_run(const std::string& why) {
    return {
        .found = "the check did not run: " + why,
        .to_do = "Remove the cause, and run doctor again.",
        .code = code_in(why)};
}

void run_check(const Check& check, const Patient& patient, Findings& findings) {
    findings.begin(check.name);
    try {
        check.run(patient, findings);
    } catch (const StoreError& error) {
        // A table or column of a pending migration.
        if (error.kind() == StoreError::Kind::statement && migrations_pending(patient))
            return findings.note(
                {.found = std::string{"not checked before the pending migrations: "} + error.what(),
                 .to_do = "Run doctor again after the migrations."}
            );
        findings.fail(did_not_run(error.what()));
    } catch (const std::exception& error) {
        findings.fail(did_not_run(error.what()));
    }
}

// Only on a terminal: a pipe or a log gets no progress.
std::function<void(std::int64_t)> progress_on(std::ostream& error) {
    if (!is_terminal(error)) return [](std::int64_t) {};
    return [&error](std::int64_t rows) {
        std::ostream{raw_buffer(error)} << "\rdoctor: " << rows << " rows read " << std::flush;
    };
}

void examine(Run& run) {
    Findings findings;
    findings.begin("database");
    Service* service = nullptr;
    try {
        service = &run.open(Database::As::inspection);
    } catch (const StoreError& error) {
        findings.fail(did_not_run(error.what()));
    }
    if (service != nullptr) {
        const Patient patient{*service, run.line.knows_operations, progress_on(run.error)};
        for (const auto& check : checks) run_check(check, patient, findings);
    }
    findings.print(run.out, run.json, run.verbose);
    run.status = findings.exit_code();
}

}  // namespace

store::Store& Patient::store() const {
    return service.engine().store();
}

bool Patient::on_postgres() const {
    return !store().serves_one_process();
}

void add_doctor(CLI::App& app, Run& run) {
    constexpr auto text =
        "Compare the database, its surroundings and this binary, before a deploy; writes nothing. "
        "Exit code: 0 nothing above a note, 1 a warning, 3 an error";
    command(app, run, "doctor", text, &examine)
        ->add_flag("--verbose", run.verbose, "Also show what is in order");
}

}  // namespace pawl::cli
