#pragma once

#include <pawl/service.hpp>

#include "src/cli/doctor/findings.hpp"

#include <functional>

// The checks of `doctor`. Each reads only, adds at least one finding, and may throw: doctor.cpp
// turns an exception into a finding.
namespace pawl::cli {

struct Patient {
    Service& service;
    bool knows_operations{};
    // Called with the number of rows read so far.
    std::function<void(std::int64_t)> progress;

    store::Store& store() const;
    bool on_postgres() const;
};

void check_open_points(const Patient& patient, Findings& findings);
void check_open_jobs(const Patient& patient, Findings& findings);
void check_held_keys(const Patient& patient, Findings& findings);
void check_migrations(const Patient& patient, Findings& findings);
void check_settings(const Patient& patient, Findings& findings);
void check_files(const Patient& patient, Findings& findings);
void check_clock(const Patient& patient, Findings& findings);
void check_disk(const Patient& patient, Findings& findings);
void check_durability(const Patient& patient, Findings& findings);
void check_role(const Patient& patient, Findings& findings);
void check_queue(const Patient& patient, Findings& findings);
void check_snapshots(const Patient& patient, Findings& findings);
void check_servers(const Patient& patient, Findings& findings);
void check_server_settings(const Patient& patient, Findings& findings);

}  // namespace pawl::cli
