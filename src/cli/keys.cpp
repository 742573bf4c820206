#include "src/cli/keys.hpp"

#include <pawl/detail/rows.hpp>

#include "src/cli/read_rows.hpp"
#include "src/ops/record_settlement.hpp"
#include "store/statements.hpp"

#include <utility>
#include <vector>

namespace pawl::cli {

namespace {

using Text = std::optional<std::string>;

// The columns of show_key, and list_attention, in order.
struct KeyDetail {
    std::int64_t id{};
    std::string tenant;
    std::string account;
    std::string key;
    std::string operation;
    std::string method;
    std::string path;
    std::string origin;
    Json params;
    std::string status;
    int attempt{};
    Text lease_until;
    std::string recovery_point;
    Json recovery_data;
    int generation{};
    Text call_key;
    Text called_at;
    bool calling{};
    Text call_target;
    std::optional<int> response_status;
    Text response_type;
    std::optional<Json> response_headers;
    Text response_body;
    std::string created_at;
    std::string last_run_at;
    Text finished_at;
    Text expires_at;
    Text error;
    int completer_runs{};
    Text completer_first_at;
    Text completer_next_at;
    Text held_at;
    Text held_by;
    Text held_why;
    Json references;
    Json calls_not_made;
    Json history;
};

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

struct Done {
    std::int64_t id{};
    std::string done;
};

Line<KeyDetail> key_of(Service& service, std::int64_t id) {
    auto rows = read<KeyDetail>(service, sql::show_key, id);
    if (!rows.empty()) return std::move(rows.front());
    if (const auto expired = expired_key(service, id))
        throw CommandFailed{
            name_of(id) + " expired at " + expired->row.expired_at +
            ": it can't be changed any more; `keys show` has what is left of it"};
    no_such_key(id);
}

Line<Attention> attention_of(Service& service, std::int64_t id) {
    auto rows = read<Attention>(service, sql::show_attention, id);
    if (!rows.empty()) return std::move(rows.front());
    const auto key = key_of(service, id).row;
    throw CommandFailed{
        name_of(id) + " is not on the attention list: it is " + key.status + " at " +
        key.recovery_point};
}

// A decision needs an undamaged row.
Attention undamaged_attention_of(Service& service, std::int64_t id) {
    auto [at, damage] = attention_of(service, id);
    if (damage.problem.empty()) return at;
    throw CommandFailed{
        "PAWL0022: " + name_of(id) + " is damaged: " + damage.problem +
        ". Repair its row first: docs/errors/PAWL0022.md"};
}

void print_done(
    std::ostream& out, bool json, std::int64_t id, std::string_view done, const std::string& text
) {
    if (json) return print_row(out, Done{id, std::string{done}}, true);
    out << text << '\n';
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
    return {at.key_id, at.attempt, at.recovery_point, at.called_at, last_answer(at)};
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

}  // namespace

void show_key(Service& service, const KeySelector& which, bool json, std::ostream& out) {
    const auto id = id_of(service, which);
    const auto rows = read<KeyDetail>(service, sql::show_key, id);
    if (!rows.empty()) return print_row(out, rows.front(), json);
    const auto expired = expired_key(service, id);
    if (!expired) no_such_key(id);
    print_row(out, *expired, json);
}

namespace {

void settle(
    Service& service, const Attention& at, const Decision& decision, bool json, std::ostream& out
) {
    const auto plan = plan_settlement(service, in_doubt(at), decision);
    if (decision.dry_run) return print_plan(service, plan, std::nullopt, json, out);
    check_not_too_early(plan, decision);
    print_plan(service, plan, record_decision(service, at, decision), json, out);
}

// "Retry" of a key with a stored result that could not be kept: a newer program may be able to
// carry it out, so its keeper runs with that result. The call is not repeated.
void keep_result_now(
    Service& service, std::int64_t id, const std::string& by, bool json, std::ostream& out
) {
    const auto at = undamaged_attention_of(service, id);
    if (!at.result || !at.result_name)
        throw CommandFailed{name_of(id) + " needs a decision: keys settle " + std::to_string(id)};
    Decision decision;
    decision.settlement = "happened";
    decision.by = by;
    decision.note = "retry with the kept result";
    decision.checked = service.engine().find(at.operation) != nullptr;
    use_kept_result(at, decision);
    settle(service, at, decision, json, out);
}

// Why the act changed nothing.
std::string why_not(const KeyDetail& key, ops::KeyVerb verb) {
    const auto id = std::to_string(key.id);
    if (key.status == "finished")
        return "is finished: there is nothing to " + std::string{ops::name_of(verb)};
    if (key.held_at && verb != ops::KeyVerb::release)
        return "is held since " + *key.held_at + " by " + key.held_by.value_or("") + ": " +
               key.held_why.value_or("") + "; `keys release " + id + "` ends that";
    if (key.status == "attention")
        return "is on the attention list: nobody works on it before a decision";
    if (verb == ops::KeyVerb::release) return "is not held";
    return "has changed meanwhile: try again";
}

std::string text_of_act(const KeyDetail& key, ops::KeyVerb verb) {
    switch (verb) {
        case ops::KeyVerb::retry:
            return " will be tried by a running server's completer after its lease and the grace "
                   "time for its client; without a server, run `completer --once` then.";
        case ops::KeyVerb::hold:
            return " is held: no attempt begins, neither the completer's nor its client's, who "
                   "gets 503 `on-hold`. `keys release " +
                   std::to_string(key.id) + "` ends that." +
                   (key.lease_until ? " An attempt that was at work may still finish the request."
                                    : "");
        case ops::KeyVerb::release:
            break;
    }
    return " is not held any more: the completer or its client goes on with it.";
}

}  // namespace

void act_on_key(
    Service& service,
    ops::KeyVerb verb,
    const KeySelector& which,
    const queue::AuditEntry& act,
    bool json,
    std::ostream& out
) {
    const auto id = id_of(service, which);
    const auto key = key_of(service, id).row;
    if (verb == ops::KeyVerb::retry && key.status == "attention")
        return keep_result_now(service, id, act.by, json, out);
    const bool done = store::write_now(service.engine().store(), [&](store::Session& session) {
        return ops::act_on_key(session, verb, id, act);
    });
    if (!done) throw CommandFailed{name_of(id) + ' ' + why_not(key_of(service, id).row, verb)};
    print_done(out, json, id, ops::name_of(verb), name_of(id) + text_of_act(key, verb));
}

void settle_key(
    Service& service, const KeySelector& which, Decision decision, bool json, std::ostream& out
) {
    const auto id = id_of(service, which);
    const auto at = undamaged_attention_of(service, id);
    use_kept_result(at, decision);
    if (decision.settlement == "happened") {
        if (decision.checked)
            check_result(service, at, decision);
        else if (decision.result.empty())
            throw CommandFailed{"--result and --value are missing; `graph` lists the results"};
    }
    settle(service, at, decision, json, out);
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
