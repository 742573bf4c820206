#include "src/page/key_acts.hpp"

#include "src/cli/attention.hpp"
#include "src/cli/keys.hpp"
#include "src/page/key_views.hpp"
#include "src/page/parts.hpp"
#include "src/page/printed.hpp"
#include "src/page/reveal.hpp"

#include <boost/json/object.hpp>

#include <utility>

namespace pawl::page {

namespace {

using boost::json::object;

cli::Decision decision_of(const Asked& asked) {
    cli::Decision decision;
    decision.settlement = asked.fields.text_or("as", "");
    if (decision.settlement != "happened" && decision.settlement != "did-not-happen" &&
        decision.settlement != "give-up")
        throw Refused{400, "as is happened, did-not-happen or give-up"};
    decision.result = asked.fields.text_or("result", "");
    decision.value = asked.fields.text_or("value", "");
    decision.note = asked.fields.text_or("note", "");
    decision.by = asked.who.name;
    decision.force = asked.fields.has("force");
    if (decision.force && !asked.may(Role::admin))
        throw Refused{403, "Only an admin may decide before the provider's time is over."};
    decision.dry_run = asked.fields.text("confirmed") != "yes";
    return decision;
}

Html record_form(const Asked& asked) {
    return act_form(
        asked,
        {.path = "/attention/" + asked.id + "/settle",
         .button = "Record the decision",
         .hidden = confirmed_fields(asked),
         .danger = true}
    );
}

Html plan_of(const Asked& asked, const boost::json::object& plan, bool force) {
    const bool too_early = !plan.at("too_early").is_null() && !force;
    return {
        element(
            "p",
            too_early ? "It is too early for this decision:"
                      : "Nothing is recorded yet. This will happen:"
        ),
        facts(plan),
        too_early ? Html{} : record_form(asked),
        element("p", link("/attention/" + asked.id, "Back, without a decision"))};
}

}  // namespace

namespace {

Done act_on(const Asked& asked, ops::KeyVerb verb, std::string_view effect) {
    const queue::AuditEntry act{asked.who.name, asked.fields.text_or("reason", "")};
    auto data = printed([&](std::ostream& out) {
        cli::act_on_key(asked.service, verb, key_of(asked), act, true, out);
    });
    return {
        .data = std::move(data),
        .message = "Key " + asked.id + ' ' + std::string{effect},
        .next = "/keys/" + asked.id};
}

}  // namespace

Done retry_key(const Asked& asked) {
    return act_on(asked, ops::KeyVerb::retry, "will be tried at the completer's next round.");
}

Done hold_key(const Asked& asked) {
    if (!asked.fields.has("reason")) throw Refused{400, "reason is missing: it is for the audit"};
    return act_on(asked, ops::KeyVerb::hold, "is held: no attempt begins until its release.");
}

Done release_key(const Asked& asked) {
    return act_on(asked, ops::KeyVerb::release, "is released.");
}

// The plan has the customer's answer, so it is a reveal.
Done settle(const Asked& asked) {
    const auto decision = decision_of(asked);
    cli::check_note(decision);
    if (decision.dry_run) audit_reveal(asked, "plan of settle " + decision.settlement);
    auto data = printed([&](std::ostream& out) {
        cli::settle_key(asked.service, key_of(asked), decision, true, out);
    });
    if (decision.dry_run) {
        auto shown = plan_of(asked, data.get_object(), decision.force);
        return {.data = std::move(data), .message = {}, .next = {}, .shown = std::move(shown)};
    }
    auto message = "The decision is recorded; a server carries it out at " +
                   std::string{text_at(data.get_object(), "carried_out_at")} +
                   ". Until then you can take it back.";
    return {
        .data = std::move(data), .message = std::move(message), .next = "/attention/" + asked.id};
}

Done undo(const Asked& asked) {
    auto data = printed([&](std::ostream& out) {
        cli::undo_settlement_of(
            asked.service,
            key_of(asked),
            {.by = asked.who.name, .note = asked.fields.text_or("note", "")},
            true,
            out
        );
    });
    return {
        .data = std::move(data),
        .message = "The decision is undone; the request waits for another.",
        .next = "/attention/" + asked.id};
}

}  // namespace pawl::page
