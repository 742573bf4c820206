#include "src/cli/doctor/checks.hpp"
#include "src/ops/service_impl.hpp"
#include "src/store/migrate.hpp"

#include <string>

namespace pawl::cli {

namespace {

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

}  // namespace

void check_migrations(const Patient& patient, Findings& findings) {
    const auto before = findings.size();
    int known = 0;
    for (const auto& [owner, scripts] : patient.service.impl().database.migrations()) {
        const auto state = store::compare_migrations(patient.store(), owner, scripts);
        known += static_cast<int>(scripts.size());
        if (!state.refusal.empty())
            findings.fail(
                {.found = state.refusal,
                 .to_do = "Deploy the newer binary, or one that knows this migration.",
                 .code = "PAWL0003"}
            );
        else if (!state.unknown.empty())
            findings.note(
                {.found = "the database has had migrations of " + owner +
                          " that this binary does not know: " + joined(state.unknown),
                 .to_do = "A newer binary has applied them; this one works beside it."}
            );
        if (!state.pending.empty())
            findings.warn(
                {.found = "migrations of " + owner + " are pending: " + joined(state.pending),
                 .to_do =
                     "Run `migrate`, or let the next server run them at its start; over a large "
                     "table they take long."}
            );
    }
    if (findings.size() == before)
        findings.ok("the database has had all " + std::to_string(known) + " migrations");
}

}  // namespace pawl::cli
