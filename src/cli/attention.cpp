#include "src/cli/attention.hpp"

#include "src/cli/keys.hpp"
#include "src/cli/output.hpp"
#include "src/cli/read_rows.hpp"
#include "src/ops/record_settlement.hpp"
#include "store/statements.hpp"

#include <limits>
#include <utility>

namespace pawl::cli {

namespace {

using Text = std::optional<std::string>;

// The columns of list_attention, in order.
struct Attention {
    std::int64_t key_id{};
    std::string tenant;
    std::string account;
    std::string key;
    std::string operation;
    std::string recovery_point;
    int attempt{};
    std::string reason;
    std::string detail;
    Text result_name;
    std::optional<Json> result;
    std::string since;
    Text settlement;
    Text settled_by;
    Text settled_note;
    Text settled_at;
    Text settling_error;
    Text call_key;
    Text called_at;
    Text call_target;
    Json recovery_data;
    Text inquiry;  // What the provider said when it was asked last.
    Text inquiry_detail;
    Text inquired_at;
    std::optional<int> inquiries;
    Text held_at;
    Text held_by;
};

struct AttentionLine {
    std::int64_t id{};
    std::string since;
    std::string account;
    std::string key;
    std::string operation;
    std::string recovery_point;
    std::string reason;
    Text called_at;
    Text call_target;
    Text inquiry;
    Text result;  // A result that came and could not be kept: its name, and its value as JSON.
    Text settlement;
    std::string detail;
};

Line<Attention> attention_of(Service& service, std::int64_t id) {
    auto rows = read<Attention>(service, sql::show_attention, id);
    if (!rows.empty()) return std::move(rows.front());
    throw CommandFailed{
        name_of(id) + " is not on the attention list: it is " + state_of_key(service, id)};
}

// A decision needs an undamaged row.
Attention undamaged_attention_of(Service& service, std::int64_t id) {
    auto [at, damage] = attention_of(service, id);
    if (damage.problem.empty()) return at;
    throw CommandFailed{
        "PAWL0022: " + name_of(id) + " is damaged: " + damage.problem +
        ". Repair its row first: docs/errors/PAWL0022.md"};
}

// A stored result that could not be kept counts, unless the operator gives another.
void use_kept_result(const Attention& at, Decision& decision) {
    if (!at.result || !at.result_name) return;
    if (decision.settlement == "did-not-happen")
        throw CommandFailed{
            name_of(at.key_id) + ": the call happened, its result is stored: " + *at.result_name +
            " " + at.result->text + "; settle it --as happened"};
    if (!decision.result.empty()) return;
    decision.result = *at.result_name;
    decision.value = at.result->text;
}

// Refuses a decision that the service could not carry out later.
void check_result(Service& service, const Attention& at, const Decision& decision) {
    const auto* operation = service.engine().find(at.operation);
    if (operation == nullptr)
        throw CommandFailed{"this program does not know the operation " + at.operation};
    const auto step = operation->step_from(at.recovery_point);
    if (!step)
        throw CommandFailed{
            "PAWL0007: this program does not know the recovery point " + at.recovery_point};
    std::string names;
    for (const auto& result : operation->steps[*step].results) {
        if (result.name == decision.result) {
            const auto decoded = result.decode(decision.value);
            if (const auto* why = std::get_if<std::string>(&decoded))
                throw CommandFailed{"--value is not a valid " + decision.result + ": " + *why};
            return;
        }
        names += std::string{names.empty() ? "" : ", "} + std::string{result.name};
    }
    if (decision.result.empty())
        throw CommandFailed{"--result and --value are missing; the results are: " + names};
    throw CommandFailed{
        "the call has no result " + decision.result + "; its results are: " + names};
}

Text last_answer(const Attention& at) {
    if (!at.inquiry) return std::nullopt;
    return *at.inquiry + " at " + at.inquired_at.value_or("") + ": " +
           at.inquiry_detail.value_or("");
}

InDoubt in_doubt(const Attention& at) {
    return {at.key_id, at.attempt, at.recovery_point, at.called_at, at.since, last_answer(at)};
}

// Returns when it was recorded.
TimePoint record_decision(Service& service, const Attention& at, const Decision& decision) {
    const bool happened = decision.settlement == "happened";
    TimePoint now{};
    const bool recorded = store::write_now(service.engine().store(), [&](store::Session& session) {
        now = session.now();
        return ops::record_settlement(
            session,
            {.key_id = at.key_id,
             .attempt = at.attempt,
             .settlement = decision.settlement,
             .result = happened ? Text{decision.result} : Text{},
             .value = happened ? Text{decision.value} : Text{},
             .by = decision.by,
             .note = decision.note,
             .audit_detail = (decision.force ? "forced: " : "") + decision.note},
            now
        );
    });
    if (!recorded)
        throw CommandFailed{
            name_of(at.key_id) + " was decided before: " + at.settlement.value_or("") + " by " +
            at.settled_by.value_or("an unknown operator") + "; `attention undo " +
            std::to_string(at.key_id) + "` undoes that"};
    return now;
}

Settled settle(Service& service, const Attention& at, Decision decision) {
    if (at.held_at)
        throw CommandFailed{
            name_of(at.key_id) + " is held since " + *at.held_at + " by " +
            at.held_by.value_or("") + ", and no decision is carried out meanwhile: `keys release " +
            std::to_string(at.key_id) + "` ends that"};
    if (decision.result.empty() && !decision.value.empty())
        throw CommandFailed{"--value has no --result that it belongs to"};
    use_kept_result(at, decision);
    if (decision.settlement == "happened") {
        if (decision.checked)
            check_result(service, at, decision);
        else if (decision.result.empty())
            throw CommandFailed{"--result and --value are missing; `graph` lists the results"};
    }
    auto plan = plan_settlement(service, in_doubt(at), decision);
    if (decision.dry_run) return {std::move(plan), std::nullopt};
    check_not_too_early(plan, decision);
    const auto decided_at = record_decision(service, at, decision);
    return {std::move(plan), decided_at};
}

}  // namespace

Settled settle(Service& service, std::int64_t id, const Decision& decision) {
    return settle(service, undamaged_attention_of(service, id), decision);
}

void settle_key(
    Service& service,
    const KeySelector& which,
    const Decision& decision,
    bool json,
    std::ostream& out
) {
    auto [plan, decided_at] = settle(service, id_of(service, which), decision);
    print_plan(service, std::move(plan), decided_at, json, out);
}

std::vector<std::int64_t> undecided_ids(Service& service, const AttentionChoice& choice) {
    constexpr auto all = std::numeric_limits<std::int32_t>::max();
    std::vector<std::int64_t> ids;
    const auto contains = [](const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    };
    for (const auto& [at, damage] : read<Attention>(service, sql::list_attention, all)) {
        const bool decided = at.settlement && !at.settling_error;
        if (decided || (choice.operation && at.operation != *choice.operation) ||
            (choice.point && at.recovery_point != *choice.point) ||
            (choice.reason && at.reason != *choice.reason) ||
            (choice.error && !contains(at.detail, *choice.error)))
            continue;
        ids.push_back(at.key_id);
        if (choice.count_max && std::ssize(ids) == *choice.count_max) break;
    }
    return ids;
}

void undo_settlement_of(
    Service& service, const KeySelector& which, const UndoRequest& act, bool json, std::ostream& out
) {
    const auto at = attention_of(service, id_of(service, which)).row;
    undo_settlement(service, in_doubt(at), act, json, out);
}

void list_attention(Service& service, int limit, bool json, std::ostream& out) {
    const auto found = read<Attention>(service, sql::list_attention, limit);
    if (json) return print_rows(out, found, true, "");
    std::vector<Line<AttentionLine>> lines;
    for (const auto& [a, damage] : found)
        lines.push_back(
            {{a.key_id,
              a.since,
              a.account,
              a.key,
              a.operation,
              a.recovery_point,
              a.reason,
              a.called_at,
              a.call_target,
              a.inquiry,
              a.result && a.result_name ? Text{*a.result_name + " " + a.result->text} : Text{},
              a.settling_error ? Text{"failed: " + *a.settling_error} : a.settlement,
              a.detail},
             damage}
        );
    print_rows(out, lines, false, "The attention list is empty.");
}

void show_attention(Service& service, const KeySelector& which, bool json, std::ostream& out) {
    print_row(out, attention_of(service, id_of(service, which)), json);
}

}  // namespace pawl::cli
