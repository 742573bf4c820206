#include "src/cli/settle.hpp"

#include <pawl/detail/rows.hpp>

#include "src/base/time_text.hpp"
#include "src/cli/key_selector.hpp"
#include "src/cli/output.hpp"
#include "src/engine/engine.hpp"
#include "src/engine/server_settings.hpp"
#include "src/store/blocking.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace pawl::cli {

namespace {

constexpr std::size_t shown_max = 500;  // Bytes of a response; --json prints all of it.

struct Undone {
    std::int64_t id{};
    std::string done;
};

engine::Settlement::Kind kind_of(const std::string& word) {
    using Kind = engine::Settlement::Kind;
    if (word == "happened") return Kind::happened;
    return word == "did-not-happen" ? Kind::did_not_happen : Kind::give_up;
}

std::string seconds(std::chrono::milliseconds length) {
    return std::to_string(std::chrono::ceil<std::chrono::seconds>(length).count()) + " s";
}

struct CallLengths {
    std::chrono::milliseconds timeout{};
    std::chrono::milliseconds lease{};
};

// The longest of this program and of the servers that run: any of them may have made the call.
CallLengths longest(Service& service, const std::vector<engine::RunningServer>& servers) {
    const auto& options = service.options();
    CallLengths all{options.call_timeout, options.lease};
    for (const auto& server : servers) {
        all.timeout = std::max(all.timeout, core::length_of(server.settings, "call_timeout"));
        all.lease = std::max(all.lease, core::length_of(server.settings, "lease"));
    }
    return all;
}

// How long a decision waits: the shortest of the servers that run counts. This program's own counts
// if it is a server (the page), or if none runs.
std::chrono::milliseconds wait_of_decisions(Service& service) {
    auto& store = service.engine().store();
    const auto servers = store::read_now(store, [&](store::Session& session) {
        return engine::running_servers(session, store);
    });
    std::optional<std::chrono::milliseconds> shortest;
    if (store.server()) shortest = service.options().settle_after;
    for (const auto& server : servers) {
        // A server of a release before does not show it.
        if (core::find_setting(server.settings, "settle_after") == nullptr) continue;
        const auto its = core::length_of(server.settings, "settle_after");
        shortest = std::min(shortest.value_or(its), its);
    }
    return shortest.value_or(service.options().settle_after);
}

// A delayed request may charge until its time-out is over; a server that was paused before it sent
// the request may still send it within its lease. The last repeat may have been sent just before
// the request came to the list.
std::optional<std::string> too_early(
    Service& service, const InDoubt& at, const Decision& decision
) {
    if (decision.settlement != "did-not-happen" || !at.called_at) return std::nullopt;
    const auto called_at = base::time_from_text(*at.called_at);
    const auto since = base::time_from_text(at.since);
    if (!called_at || !since) return std::nullopt;
    auto& store = service.engine().store();
    TimePoint now;
    const auto servers = store::read_now(store, [&](store::Session& session) {
        now = session.now();
        return engine::running_servers(session, store);
    });
    const auto of = longest(service, servers);
    const auto until = std::max(*called_at, *since) + of.timeout + of.lease;
    if (now >= until) return std::nullopt;
    return "a call of this request may still be carried out until " + base::time_text(until) +
           ": its time-out is " + seconds(of.timeout) + ", the lease " + seconds(of.lease) +
           ". Check with the provider again after that";
}

void preview(Service& service, const InDoubt& at, const Decision& decision, SettlePlan& plan) {
    if (!decision.checked) {
        plan.not_known =
            "`pawl` does not know the operation and could not try it; `settle --dry-run` of the "
            "service's own program does";
        return;
    }
    auto found = service.engine().preview(
        {.key_id = at.key_id,
         .attempt = at.attempt,
         .recovery_point = at.recovery_point,
         .kind = kind_of(decision.settlement),
         .result_name = decision.result,
         .result = decision.value,
         .by = decision.by}
    );
    if (!found.error.empty())
        throw CommandFailed{name_of(at.key_id) + " can't be settled this way: " + found.error};
    if (found.answer) {
        plan.answer_status = found.answer->status;
        plan.answer = std::move(found.answer->body);
    } else {
        plan.called_from = std::move(found.call_from);
    }
}

std::string text_of_plan(const SettlePlan& plan) {
    auto text = name_of(plan.id) + ": " + plan.settlement;
    if (plan.result) text += ", with the result " + *plan.result + " " + plan.value.value_or("");
    text += ".\n";
    if (plan.answer_status) {
        const auto answer = plan.answer.value_or("");
        text += "The customer will get " + std::to_string(*plan.answer_status) + ": " +
                answer.substr(0, shown_max) + (answer.size() > shown_max ? "..." : "") + "\n";
    }
    if (plan.called_from)
        text += "The call from " + *plan.called_from +
                " will be repeated with a new key; the customer's answer follows from it.\n";
    if (plan.not_known)
        text += "The customer's answer is not known here: " + *plan.not_known + ".\n";
    if (plan.inquiry)
        text += "The provider was asked, and its last answer is " + *plan.inquiry + ".\n";
    if (plan.too_early) text += "It is early: " + *plan.too_early + ".\n";
    return text;
}

}  // namespace

void check_note(const Decision& decision) {
    if (decision.dry_run || decision.note.find_first_not_of(" \t\n") != std::string::npos) return;
    throw UsageError{"--note is empty: say how you know, for later readers of the audit"};
}

SettlePlan plan_settlement(Service& service, const InDoubt& at, const Decision& decision) {
    SettlePlan plan{.id = at.key_id, .settlement = decision.settlement};
    if (decision.settlement == "happened") {
        plan.result = decision.result;
        plan.value = decision.value;
    }
    plan.inquiry = at.inquiry;
    plan.too_early = too_early(service, at, decision);
    preview(service, at, decision, plan);
    return plan;
}

void check_not_too_early(const SettlePlan& plan, const Decision& decision) {
    if (plan.too_early && !decision.force)
        throw CommandFailed{
            name_of(plan.id) + ": " + *plan.too_early +
            "; --force records it now, and --note must say how you know"};
}

void print_plan(
    Service& service,
    SettlePlan plan,
    std::optional<TimePoint> decided_at,
    bool json,
    std::ostream& out
) {
    const auto wait = wait_of_decisions(service);
    if (decided_at)
        plan.carried_out_at = base::time_text(*decided_at + wait);
    else
        plan.done = "dry run";
    if (json) return print_row(out, plan, true);
    out << text_of_plan(plan);
    if (!decided_at) {
        out << "This was a dry run: no decision was recorded.\n";
        return;
    }
    const auto id = std::to_string(plan.id);
    out << "The decision is recorded. A running server carries it out at " << *plan.carried_out_at
        << ", " << seconds(wait) << " from now; until then `attention undo " << id
        << "` undoes it. If it can't be carried out, `attention show " << id << "` says why.\n";
}

void undo_settlement(
    Service& service, const InDoubt& at, const UndoRequest& act, bool json, std::ostream& out
) {
    const auto undone = store::write_now(service.engine().store(), [&](store::Session& session) {
        const auto rows =
            detail::execute_statement(session, sql::undo_settlement, at.key_id, at.attempt);
        if (rows > 0)
            detail::execute_statement(
                session,
                sql::insert_audit,
                session.now(),
                act.by,
                "undo settle",
                at.key_id,
                act.note
            );
        return rows > 0;
    });
    if (!undone) throw CommandFailed{name_of(at.key_id) + ": there is no decision to undo"};
    if (json) return print_row(out, Undone{at.key_id, "undo"}, true);
    out << name_of(at.key_id) << ": the decision is undone; the request waits for another.\n";
}

}  // namespace pawl::cli
