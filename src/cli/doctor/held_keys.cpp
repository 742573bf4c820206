#include "src/cli/doctor/checks.hpp"
#include "src/cli/key_acts.hpp"

#include <utility>

namespace pawl::cli {

namespace {

constexpr int held_ids_max = 20;

}  // namespace

// A hold that was forgotten keeps its client waiting for ever.
void check_held_keys(const Patient& patient, Findings& findings) {
    const auto held =
        read_keys_to_act_on(patient.service, ops::KeyVerb::release, {}, 0, held_ids_max);
    if (held.empty()) return findings.ok("no key is held");
    const auto& first = held.front().row;
    Finding finding{
        .found = std::to_string(held.size()) +
                 (std::ssize(held) == held_ids_max ? " or more" : "") +
                 " keys are held by operators; key " + std::to_string(first.id) + " since " +
                 first.held_at.value_or("") + " by " + first.held_by.value_or(""),
        .to_do = "`keys show` has each reason; `keys release` ends a hold."};
    for (const auto& [key, damage] : held) finding.ids.push_back(key.id);
    findings.note(std::move(finding));
}

}  // namespace pawl::cli
