#include <pawl/detail/rows.hpp>

#include "src/cli/doctor/checks.hpp"
#include "src/engine/engine.hpp"
#include "src/ops/service_impl.hpp"
#include "src/store/blocking.hpp"
#include "store/doctor.hpp"

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace pawl::cli {

namespace {

constexpr int page_size = 1'000;
constexpr std::size_t ids_max = 20;

struct OpenKey {
    std::int64_t id{};
    std::string operation;
    std::string recovery_point;
    std::string recovery_data;
    std::string params;
};

struct OpenJob {
    std::int64_t id{};
    std::string kind;
    std::string args;
};

enum class State { known, unknown_operation, unknown_point, removed_point, not_decoded };

// Where keys stand, or what jobs are, with the first of their ids.
struct Group {
    std::int64_t count{};
    std::vector<std::int64_t> ids;

    void add(std::int64_t id) {
        ++count;
        if (ids.size() < ids_max) ids.push_back(id);
    }
};

using Groups = std::map<std::pair<State, std::string>, Group>;

// Calls `each` with the id and the row, in pages, each in a snapshot of its own, so that a long run
// holds none.
template <class F>
void for_each_row(const Patient& patient, const Sql& page, std::int64_t& read, F each) {
    std::int64_t above = 0;
    for (int found = page_size; found == page_size;) {
        found = store::read_now(patient.store(), [&](store::Session& session) {
            int rows = 0;
            detail::run_statement(
                session,
                page,
                [&](const detail::Row& row) {
                    above = row.integer(0);
                    ++rows;
                    each(above, row);
                },
                above,
                page_size
            );
            return rows;
        });
        read += found;
        patient.progress(read);
    }
}

bool decodes(const detail::Decoded& decoded) {
    return std::holds_alternative<detail::ErasedValue>(decoded);
}

State state_of(const engine::Engine& engine, const OpenKey& key) {
    const auto* operation = engine.find(key.operation);
    if (operation == nullptr) return State::unknown_operation;
    const auto step = operation->step_from(key.recovery_point);
    if (!step) {
        for (const auto removed : operation->dropped)
            if (removed == key.recovery_point) return State::removed_point;
        return State::unknown_point;
    }
    if (!decodes(operation->decode_request(key.params))) return State::not_decoded;
    const auto decode = operation->steps[*step].decode;
    if (decode != nullptr && !decodes(decode(key.recovery_data))) return State::not_decoded;
    return State::known;
}

Finding unknown_of(State state, const std::string& where, const Group& group) {
    const auto keys = std::to_string(group.count) + " unfinished keys stand at " + where;
    switch (state) {
        case State::unknown_operation:
            return {
                keys + ", an operation that this binary does not have",
                "Deploy a binary that has the operation until these keys are finished.",
                "PAWL0007",
                group.ids};
        case State::removed_point:
            return {
                keys + ", a point that this binary declares as Removed",
                "Let a binary that has the point finish these keys first.",
                "PAWL0007",
                group.ids};
        case State::not_decoded:
            return {
                keys + " with stored data that do not decode in this binary",
                "New fields of a point or request must be std::optional; `keys show` has the data.",
                "PAWL0007",
                group.ids};
        case State::unknown_point:
        case State::known:
            break;
    }
    return {
        keys + ", a recovery point that this binary does not know",
        "List its old name in RenamedPoints, or deploy a binary that has it.",
        "PAWL0007",
        group.ids};
}

std::int64_t report_keys(const Groups& groups, Findings& findings) {
    std::int64_t points = 0;
    for (const auto& [of, group] : groups) {
        if (of.first == State::known)
            ++points;
        else
            findings.fail(unknown_of(of.first, of.second, group));
    }
    return points;
}

}  // namespace

void check_open_points(const Patient& patient, Findings& findings) {
    if (!patient.knows_operations)
        return findings.note(
            {.found = "not checked: this program does not know the operations",
             .to_do = "Run the doctor of the service's own program."}
        );
    Groups groups;
    std::int64_t read = 0;
    const auto before = findings.size();
    for (const Sql* page : std::initializer_list<const Sql*>{
             &sql::doctor::page_open_keys, &sql::doctor::page_attention_keys})
        for_each_row(patient, *page, read, [&](std::int64_t id, const detail::Row& row) {
            const auto key = detail::row_as<OpenKey>(row, page->name);
            const auto where = key.operation + " at " + key.recovery_point;
            groups[{state_of(patient.service.engine(), key), where}].add(id);
        });
    const auto points = report_keys(groups, findings);
    if (findings.size() == before)
        findings.ok(
            std::to_string(read) + " unfinished keys at " + std::to_string(points) +
            " points decode with this binary"
        );
}

void check_open_jobs(const Patient& patient, Findings& findings) {
    if (!patient.knows_operations)
        return findings.note(
            {.found = "not checked: this program has no handlers of jobs",
             .to_do = "Run the doctor of the service's own program."}
        );
    using Known = ops::Worker::Known;
    std::map<std::pair<Known, std::string>, Group> groups;
    std::int64_t read = 0;
    for (const Sql* page :
         std::initializer_list<const Sql*>{&sql::doctor::page_jobs, &sql::doctor::page_staged_jobs})
        for_each_row(patient, *page, read, [&](std::int64_t id, const detail::Row& row) {
            const auto job = detail::row_as<OpenJob>(row, page->name);
            const auto known = patient.service.impl().first_tries().knows(job.kind, job.args);
            if (known != Known::yes) groups[{known, job.kind}].add(id);
        });
    for (const auto& [of, group] : groups) {
        const auto jobs = std::to_string(group.count) + " jobs of kind " + of.second;
        findings.fail(
            {.found = jobs + (of.first == Known::no_handler
                                  ? ", for which this binary has no handler"
                                  : " with arguments that do not decode in this binary"),
             .to_do = "Its workers would fail at them, until they are dead letters: keep the "
                      "handler, and make new fields std::optional.",
             .ids = group.ids}
        );
    }
    if (groups.empty())
        findings.ok(std::to_string(read) + " jobs in the database have a handler and decode");
}

}  // namespace pawl::cli
