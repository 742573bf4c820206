#include "src/base/url.hpp"
#include "src/cli/doctor/checks.hpp"
#include "src/ops/queue_check.hpp"
#include "src/ops/service_impl.hpp"

namespace pawl::cli {

void check_queue(const Patient& patient, Findings& findings) {
    const auto& options = patient.service.options();
    if (options.queue == "embedded") return findings.ok("jobs are in the database");
    const auto url = base::without_password(options.queue);
    const auto before = findings.size();
    const auto warnings =
        ops::warnings_of_queue(options, patient.store(), patient.service.impl().queue_names);
    // librdkafka's own lines have no code, and neither have missing topics.
    for (const auto& warning : warnings)
        findings.add(
            warning.code.empty() ? Severity::note : Severity::warning,
            {.found = warning.detail, .code = warning.code}
        );
    if (findings.size() == before) findings.ok(url + " answers, and keeps jobs safely");
}

}  // namespace pawl::cli
