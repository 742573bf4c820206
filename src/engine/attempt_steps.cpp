#include "src/base/error_text.hpp"
#include "src/core/fault.hpp"
#include "src/core/move.hpp"
#include "src/engine/attempt.hpp"
#include "src/engine/attention_log.hpp"
#include "src/engine/response_rule.hpp"
#include "src/engine/router_impl.hpp"
#include "src/engine/run_phase.hpp"
#include "src/json/fingerprint.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace pawl::engine {

using detail::send_fields;
using detail::send_statement;

namespace {

using Text = std::optional<std::string>;

// The parameters of insert_key.
struct OpenKey {
    std::int64_t id{};
    std::string_view hash, tenant, account, idempotency_key, operation, request_method,
        request_path, origin, fingerprint;
    int secret_version{};
    std::string_view params;
    std::optional<TimePoint> lease_until;
    std::string_view recovery_point, recovery_data;
    std::optional<std::string_view> call_key;
    std::optional<TimePoint> called_at;
    bool calling{};
    TimePoint now{};
    std::optional<std::string_view> error;
    int generation{};
    std::optional<std::string_view> call_target;
    std::optional<std::int64_t> server;
};

// The parameters of insert_key_finished.
struct FinishedKey {
    std::int64_t id{};
    std::string_view hash, tenant, account, idempotency_key, operation, request_method,
        request_path, origin, fingerprint;
    int secret_version{};
    std::string_view params;
    int response_status{};
    std::string_view response_type, response_headers, response_body;
    TimePoint now{};
    std::optional<TimePoint> expires_at;
    int generation{};
};

Text stored_target(const std::string& target) {
    return target.empty() ? Text{} : Text{target};
}

}  // namespace

Attempt::Outcome Attempt::advance_from(store::Session& session, Position from) {
    const auto& form = operation_->steps[from.step];
    if (form.foreign) return from;
    const auto began = engine_.clock().steady();
    auto moved = run_phase(tx_context(session), *operation_, {from.step, from.point});
    const auto took = engine_.clock().steady() - began;
    if (auto* by = engine_.observer())
        by->on_phase({.operation = *operation_, .step = from.step, .under = trace()}, took);
    note("phase", {.point = std::string{form.from}, .took_us = microseconds(took)});
    PAWL_FAULT("engine.phase.after");
    return advance(session, from.step, std::move(moved));
}

Attempt::Outcome Attempt::advance(
    store::Session& session, std::size_t from, detail::StepOutcome moved
) {
    if (auto* response = final_response(moved)) {
        core::check_move(from, operation_->steps.size(), operation_->steps.size());
        return StoredResponse{checked_response(std::move(*response)), false, std::nullopt};
    }
    auto& reached = std::get<detail::ReachedPoint>(moved);
    core::check_move(from, reached.step, operation_->steps.size());
    const auto stored = std::string{operation_->steps[reached.step].from};
    return advance_from(session, {reached.step, std::move(reached.point), stored});
}

// Of a row that is open after its first transaction.
void Attempt::write_first_notes(
    store::Session& session, const Position& at, const std::string& error
) {
    if (!error.empty()) note_and_write(session, "released", {.point = at.stored, .detail = error});
    // The next attempt goes on in this trace, also if this one dies in its call.
    else if (trace() != nullptr && trace()->sampled() && engine_.records_traces())
        write_notes(session);
    else
        references_.write(session, facts_.id);
}

void Attempt::insert_row(store::Session& session, Outcome& reached, const std::string& error) {
    const auto now = session.now();
    const auto version = engine_.installation().secret_version();
    const auto& r = request_;
    if (auto* settled = std::get_if<StoredResponse>(&reached)) {
        const auto& response = settled->response;
        settled->expires_at = expiry(now);
        note_and_write(session, "answered", {.point = "finished", .status = response.status});
        send_fields<sql::insert_key_finished>(
            session,
            FinishedKey{
                .id = facts_.id,
                .hash = hash_,
                .tenant = r.principal.tenant,
                .account = r.principal.account,
                .idempotency_key = r.key,
                .operation = operation_->name,
                .request_method = r.method,
                .request_path = r.path,
                .origin = r.origin,
                .fingerprint = r.fingerprint,
                .secret_version = version,
                .params = r.params,
                .response_status = response.status,
                .response_type = response.content_type,
                .response_headers = encode_headers(response.headers),
                .response_body = response.body,
                .now = now,
                .expires_at = settled->expires_at,
                .generation = facts_.generation}
        );
        return;
    }
    const auto& at = std::get<Position>(reached);
    const auto& form = operation_->steps[at.step];
    const bool failed = !error.empty();
    facts_.mark.reset();
    if (!failed) mark_call(now, at);
    write_first_notes(session, at, error);
    send_fields<sql::insert_key>(
        session,
        OpenKey{
            .id = facts_.id,
            .hash = hash_,
            .tenant = r.principal.tenant,
            .account = r.principal.account,
            .idempotency_key = r.key,
            .operation = operation_->name,
            .request_method = r.method,
            .request_path = r.path,
            .origin = r.origin,
            .fingerprint = r.fingerprint,
            .secret_version = version,
            .params = r.params,
            .lease_until = failed ? std::nullopt : std::optional{lease_end(session)},
            .recovery_point = at.stored,
            .recovery_data =
                form.encode != nullptr ? form.encode(at.point.get()) : std::string{"{}"},
            .call_key = facts_.mark ? Text{facts_.mark->key} : Text{},
            .called_at = facts_.mark ? std::optional{facts_.mark->called_at} : std::nullopt,
            .calling = form.foreign && facts_.mark && facts_.mark->again == Repeat::never,
            .now = now,
            .error = failed ? Text{error} : Text{},
            .generation = facts_.generation,
            .call_target = facts_.mark ? stored_target(facts_.mark->target) : Text{},
            .server = engine_.store().server()}
    );
}

void Attempt::move_row(store::Session& session, Outcome& reached) {
    const auto now = session.now();
    if (auto* settled = std::get_if<StoredResponse>(&reached)) {
        const auto& response = settled->response;
        settled->expires_at = expiry(now);
        note("answered", {.point = "finished", .status = response.status});
        fence(
            session,
            sql::finish_key,
            response.status,
            response.content_type,
            encode_headers(response.headers),
            response.body,
            now,
            settled->expires_at
        );
    } else {
        const auto& to = std::get<Position>(reached);
        const auto& form = operation_->steps[to.step];
        // Only a row at a call gets a new mark; at a phase it keeps the time of the last call.
        if (to.step != facts_.at.step && form.foreign) mark_call(now, to);
        fence(
            session,
            sql::move_key,
            to.stored,
            form.encode != nullptr ? form.encode(to.point.get()) : std::string{"{}"},
            lease_end(session),
            form.foreign ? Text{facts_.mark->key} : Text{},
            facts_.mark->called_at,
            form.foreign && facts_.mark->again == Repeat::never,
            now,
            stored_target(facts_.mark->target)
        );
    }
    write_notes(session);
}

// The call key is derived from what the client sent, never from a row id (F5): a row inserted
// again must not look like a new charge. It is computed once and stored with called_at.
//
// If a restore may have lost the record of the call, called_at is the earliest possible time: the
// provider remembers the key from then on.
void Attempt::mark_call(TimePoint now, const Position& at, Lost lost) {
    const auto since = lost == Lost::perhaps ? engine_.restore_gap_start(facts_.id, now)
                                             : std::optional<TimePoint>{};
    const auto* const provider = choose_provider(at);
    const auto identity =
        key_identity(operation_->settings.scope, request_.principal, request_.key);
    facts_.mark = CallMark{
        json::call_key(
            {.installation = engine_.installation().name,
             .tenant = identity.tenant,
             .account = identity.account,
             .client_key = identity.key,
             .point = at.stored,
             .generation = static_cast<std::uint64_t>(facts_.generation)}
        ),
        since ? std::min(*since, now) : now,
        true,
        provider != nullptr ? provider->target() : call_target(at),
        since.has_value(),
        provider != nullptr ? provider->again : operation_->steps[at.step].again,
        provider};
}

// Only for a Routed call.
Routing Attempt::routing(const Position& at) const {
    return operation_->steps[at.step].route(operation_->op.get(), at.point.get());
}

// nullptr: the call is not Routed. A choice that is rolled back may keep a provider that is down
// from its next trial, until the router's probe_max is over.
const Provider* Attempt::choose_provider(const Position& at) const {
    if (operation_->steps[at.step].route == nullptr) return nullptr;
    const auto among = routing(at);
    engine_.routers().add(among.router.impl());
    const auto* const chosen = among.router.impl().choose(
        among.payment, tried_, engine_.clock().steady(), engine_.random().dice()
    );
    if (chosen == nullptr)
        throw std::runtime_error{
            "no provider of the router takes " + std::to_string(among.payment.amount) + ' ' +
            among.payment.currency + (tried_.empty() ? "" : ", besides those that refused it")};
    return chosen;
}

// The target of the call by this program's configuration; empty: the operation does not name one.
std::string Attempt::call_target(const Position& at) const {
    const auto& form = operation_->steps[at.step];
    if (form.call_target == nullptr) return {};
    return base::sanitized_error(form.call_target(operation_->op.get(), at.point.get()));
}

void Attempt::to_attention(store::Session& session) {
    const auto now = session.now();
    const auto text = base::sanitized_error(error_);
    const auto& f = facts_;
    note_and_write(session, "attention", {.result = std::string{reason_}, .detail = error_});
    fence(session, sql::to_attention, text, now);
    send_statement(session, sql::insert_attention, f.id, f.number, f.at.stored, reason_, text, now);
    listed_ = true;
}

// After the commit.
void Attempt::log_if_listed() {
    if (!std::exchange(listed_, false)) return;
    log_attention_added(
        {.key_id = facts_.id,
         .hash = hash_,
         .principal = request_.principal,
         .operation = operation_->name,
         .point = facts_.at.stored,
         .reason = reason_,
         .detail = base::sanitized_error(error_)}
    );
}

// Called last in a transaction: the time that a phase takes does not shorten the lease.
TimePoint Attempt::lease_end(store::Session& session) {
    facts_.leased = engine_.clock().moment();
    return session.now() + engine_.options().lease;
}

std::optional<TimePoint> Attempt::expiry(TimePoint now) const {
    const Keep keep = operation_->settings.keep.value_or(Keep{engine_.options().keep});
    if (!keep) return std::nullopt;
    return now + std::min<std::chrono::hours>(*keep, longest_keep);
}

}  // namespace pawl::engine
