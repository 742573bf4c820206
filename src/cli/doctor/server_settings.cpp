#include "src/engine/server_settings.hpp"

#include "src/cli/doctor/checks.hpp"
#include "src/ops/service_impl.hpp"
#include "src/store/blocking.hpp"

#include <string>
#include <utility>
#include <vector>

namespace pawl::cli {

namespace {

std::string text_of(
    const std::vector<core::SettingDifference>& found, const std::string& here = "here"
) {
    std::string all;
    for (const auto& one : found) all += (all.empty() ? "" : "; ") + ops::text_of(one, here);
    return all;
}

}  // namespace

// Each pair of servers is compared once.
void check_server_settings(const Patient& patient, Findings& findings) {
    const auto before = findings.size();
    auto servers = store::read_now(patient.store(), [&](store::Session& session) {
        return engine::running_servers(session, patient.store());
    });
    if (patient.knows_operations) {
        const auto ours = patient.service.impl().settings.settings();
        if (const auto all = text_of(engine::compare_with(ours, servers)); !all.empty())
            findings.note(
                {.found = "this command has other settings than the servers: " + all,
                 .to_do = "Give it the options of the servers; a server with these would differ.",
                 .code = "PAWL0025"}
            );
    }
    while (!servers.empty()) {
        const auto first = std::move(servers.front());
        servers.erase(servers.begin());
        const auto all = text_of(
            engine::compare_with(first.settings, servers), "in server " + std::to_string(first.id)
        );
        if (all.empty()) continue;
        findings.warn(
            {.found = "servers have different settings: " + all,
             .to_do = "Right during a rolling change; otherwise give all of them the same.",
             .code = "PAWL0025"}
        );
    }
    if (findings.size() == before) findings.ok("the servers have the same settings");
}

}  // namespace pawl::cli
