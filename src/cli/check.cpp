#include "src/cli/check.hpp"

#include <pawl/detail/rows.hpp>

#include "src/cli/output.hpp"
#include "src/core/claim_rule.hpp"
#include "src/engine/engine.hpp"
#include "src/ops/service_impl.hpp"
#include "src/store/blocking.hpp"
#include "src/store/migrate.hpp"
#include "store/checks.hpp"

#include <algorithm>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t examples_max = 5;
// One scan of a table of many millions of rows.
constexpr std::chrono::minutes deadline{10};
constexpr std::chrono::hours lease_max{1};  // That ServiceOptions allow.
constexpr std::chrono::hours long_job_lease{24};

enum class Bound { none, key_lease, job_lease };

struct Invariant {
    const Sql* statement;
    std::string_view meaning;
    Bound bound{Bound::none};
};

constexpr Invariant invariants[] = {
    {&sql::checks::attention_without_key,
     "An entry of the attention list belongs to a key of the same attempt and recovery point that "
     "waits for a person: these can't be settled."},
    {&sql::checks::call_marks,
     "A call under way has its call key and its time: without them it may be repeated wrongly."},
    {&sql::checks::calls_not_made,
     "A call that was not made belongs to an earlier generation of a stored key."},
    {&sql::checks::done_jobs,
     "A job that was done in a transaction is not due again: these would run twice."},
    {&sql::checks::expiries, "A key expires after its creation: these are removed too early."},
    {&sql::checks::finished_keys,
     "A finished key has its response and no lease: these can't be replayed."},
    {&sql::checks::inquiries, "An inquiry belongs to a stored key and to a call that was made."},
    {&sql::checks::job_ids,
     "A job is in one place: due, staged or dead. These (job ids) may be carried out twice."},
    {&sql::checks::job_leases,
     "The lease of a job ends soon: these were written by a wrong clock.",
     Bound::job_lease},
    {&sql::checks::job_states,
     "A job has a lease while it runs, and only then, and its counts agree: others are never "
     "claimed or never freed."},
    {&sql::checks::key_leases,
     "The lease of a key ends soon: these were written by a wrong clock.",
     Bound::key_lease},
    {&sql::checks::key_without_attention,
     "A key that waits for a person has an entry on the attention list: nobody sees these."},
    {&sql::checks::live_registry,
     "A live row of the registry has its key: repeats of these requests fail."},
    {&sql::checks::registry,
     "Each key has a live row in the registry, with its hash: without it a repeat is executed "
     "again."},
    {&sql::checks::secret_versions,
     "The secret of each fingerprint is known: repeats of these requests can't be compared."},
    {&sql::checks::settlement_audits, "Each decision of a person is in the audit."},
    {&sql::checks::settlements, "Each decision has its time and who decided."},
    {&sql::checks::staged_claims,
     "The claim of a staged job ends soon: these were written by a wrong clock.",
     Bound::job_lease},
    {&sql::checks::tombstones,
     "A row of the registry has a status and a time if its key expired, and otherwise neither."},
    {&sql::checks::unfinished_keys,
     "A key that is not finished has no response, and expires never."},
};
static_assert(std::size(invariants) == std::size(sql::checks::all));

// What another program's commands can know of its leases.
std::optional<TimePoint> latest(Bound bound, TimePoint now, const CheckOptions& options) {
    switch (bound) {
        case Bound::key_lease:
            return core::lease_bound(now, lease_max);
        case Bound::job_lease:
            return core::lease_bound(
                now, std::max<std::chrono::milliseconds>(options.job_lease, long_job_lease)
            );
        case Bound::none:
            break;
    }
    return std::nullopt;
}

Violation look_for(store::Session& session, const Invariant& of, const CheckOptions& options) {
    Violation found{};
    found.invariant = of.statement->name;
    found.meaning = of.meaning;
    const auto add = [&](const detail::Row& row) {
        ++found.count;
        if (found.examples.size() < examples_max) found.examples.emplace_back(row.text(0));
    };
    if (const auto bound = latest(of.bound, session.now(), options))
        detail::run_statement(session, *of.statement, add, options.max, *bound);
    else
        detail::run_statement(session, *of.statement, add, options.max);
    return found;
}

void refuse_other_schema(Service& service) {
    for (const auto& [owner, scripts] : service.impl().database.migrations()) {
        const auto state = store::compare_migrations(service.engine().store(), owner, scripts);
        if (!state.refusal.empty()) throw CommandFailed{state.refusal};
        if (!state.pending.empty())
            throw CommandFailed{
                "the database lacks migrations of " + owner +
                "; `migrate --dry-run` lists them: check with the binary that serves it"};
    }
}

boost::json::object object_of_violation(const Violation& violation) {
    boost::json::array examples;
    for (const auto& id : violation.examples) examples.emplace_back(id);
    return {
        {"invariant", violation.invariant},
        {"count", violation.count},
        {"examples", std::move(examples)},
        {"meaning", violation.meaning}};
}

void print(const Violation& violation, int max, std::ostream& out) {
    out << violation.invariant << ": " << violation.count
        << (violation.count >= max ? " or more" : "") << " rows:";
    for (const auto& id : violation.examples) out << ' ' << id;
    out << "\n    " << violation.meaning << '\n';
}

void check(Run& run) {
    auto& service = run.open(Database::As::inspection);
    refuse_other_schema(service);
    const auto found = find_violations(
        service.engine().store(), {.max = run.max, .job_lease = service.options().job_lease}
    );
    run.status = found.empty() ? 0 : 1;
    if (run.json) {
        boost::json::array array;
        for (const auto& violation : found) array.push_back(object_of_violation(violation));
        return print_json(run.out, array);
    }
    for (const auto& violation : found) print(violation, run.max, run.out);
    run.out << std::size(invariants) - found.size() << " of " << std::size(invariants)
            << " invariants hold\n";
}

}  // namespace

std::vector<Violation> find_violations(store::Store& store, const CheckOptions& options) {
    std::vector<Violation> violations;
    for (const auto& of : invariants) {
        auto found = store::run_and_wait(
            [&](std::unique_ptr<store::Work> work) { store.read(std::move(work)); },
            [&](store::Session& session) { return look_for(session, of, options); },
            deadline
        );
        if (found.count > 0) violations.push_back(std::move(found));
    }
    return violations;
}

std::vector<Violation> find_violations_in(store::Session& session, const CheckOptions& options) {
    std::vector<Violation> violations;
    for (const auto& of : invariants)
        if (auto found = look_for(session, of, options); found.count > 0)
            violations.push_back(std::move(found));
    return violations;
}

void add_check(CLI::App& app, Run& run) {
    constexpr auto text =
        "Check the invariants of the stored rows; writes nothing. Reads each table of Pawl a few "
        "times, each time in one snapshot; exit code 1 if an invariant is broken";
    auto* made = command(app, run, "check", text, &check);
    made->add_option("--max", run.max, "Most rows to count for an invariant")
        ->check(decimal())
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
}

}  // namespace pawl::cli
