#include <pawl/detail/rows.hpp>

#include "src/base/error_text.hpp"
#include "src/base/time_text.hpp"
#include "src/core/fault.hpp"
#include "src/core/move.hpp"
#include "src/engine/attempt.hpp"
#include "src/engine/response_rule.hpp"
#include "src/engine/tx_factory.hpp"
#include "src/json/fingerprint.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <utility>

namespace pawl::engine {

using detail::fence_statement;
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

Attempt::Progress Attempt::advance_from(store::Session& session, Position from) {
    const auto& form = operation_->steps[from.step];
    if (form.foreign) return from;
    auto moved = detail::TxFactory::with_tx(
        engine_.tx_context(session, id_, staged_, operation_->isolation),
        [&](Tx& tx) { return form.run(operation_->op.get(), tx, from.point.get()); }
    );
    PAWL_FAULT("engine.phase.after");
    return advance(session, from.step, std::move(moved));
}

Attempt::Progress Attempt::advance(store::Session& session, std::size_t from, detail::Moved moved) {
    if (auto* response = std::get_if<Response>(&moved)) {
        core::check_move(from, operation_->steps.size(), operation_->steps.size());
        return storable(std::move(*response));
    }
    auto& reached = std::get<detail::Reached>(moved);
    core::check_move(from, reached.step, operation_->steps.size());
    const auto stored = std::string{operation_->steps[reached.step].from};
    return advance_from(session, {reached.step, std::move(reached.point), stored});
}

void Attempt::insert_row(
    store::Session& session, const Progress& reached, const std::string& error
) {
    const auto now = session.now();
    const auto version = engine_.installation().secret_version();
    const auto& r = request_;
    if (const auto* response = std::get_if<Response>(&reached)) {
        expires_at_ = expiry(now);
        send_fields<sql::insert_key_finished>(
            session,
            FinishedKey{
                .id = id_,
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
                .response_status = response->status,
                .response_type = response->content_type,
                .response_headers = encode_headers(response->headers),
                .response_body = response->body,
                .now = now,
                .expires_at = expires_at_,
                .generation = generation_}
        );
        return;
    }
    const auto& at = std::get<Position>(reached);
    const auto& form = operation_->steps[at.step];
    const bool failed = !error.empty();
    mark_.reset();
    if (!failed) mark_call(now, at);
    send_fields<sql::insert_key>(
        session,
        OpenKey{
            .id = id_,
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
            .call_key = mark_ ? Text{mark_->key} : Text{},
            .called_at = mark_ ? std::optional{mark_->called_at} : std::nullopt,
            .calling = !failed && form.again == Repeat::never,
            .now = now,
            .error = failed ? Text{error} : Text{},
            .generation = generation_,
            .call_target = mark_ ? stored_target(mark_->target) : Text{}}
    );
}

// By the fence (F1, F2): the attempt's number, and the point that it started from.
void Attempt::move_row(store::Session& session, const Progress& reached) {
    const auto now = session.now();
    if (const auto* response = std::get_if<Response>(&reached)) {
        expires_at_ = expiry(now);
        fence_statement(
            session,
            sql::finish_key,
            id_,
            number_,
            at_.stored,
            response->status,
            response->content_type,
            encode_headers(response->headers),
            response->body,
            now,
            expires_at_
        );
    } else {
        const auto& to = std::get<Position>(reached);
        const auto& form = operation_->steps[to.step];
        // A row at a phase has no call before it: only the time of the call whose result it keeps.
        if (to.step != at_.step && form.foreign) mark_call(now, to);
        fence_statement(
            session,
            sql::move_key,
            id_,
            number_,
            at_.stored,
            to.stored,
            form.encode != nullptr ? form.encode(to.point.get()) : std::string{"{}"},
            lease_end(session),
            form.foreign ? Text{mark_->key} : Text{},
            mark_->called_at,
            form.again == Repeat::never,
            now,
            stored_target(mark_->target)
        );
    }
}

// Of what the client sent, never of a row id (F5): a row made anew must not look like a new charge.
// Computed once, stored with called_at, read back ever after.
//
// Where a restore may have lost the record of the call, its time is the earliest that it can have:
// the provider counts its memory of the key from there.
void Attempt::mark_call(TimePoint now, const Position& at, Lost lost) {
    const auto since =
        lost == Lost::perhaps ? engine_.call_lost_since(id_, now) : std::optional<TimePoint>{};
    mark_ = CallMark{
        json::foreign_key(
            {.installation = engine_.installation().name,
             .tenant = identity_.tenant,
             .account = identity_.account,
             .client_key = identity_.key,
             .point = at.stored,
             .generation = static_cast<std::uint64_t>(generation_)}
        ),
        since ? std::min(*since, now) : now,
        true,
        call_target(at),
        since.has_value()};
}

// Who the call from here goes to, as this program is configured; empty: the operation does not say.
std::string Attempt::call_target(const Position& at) const {
    const auto& form = operation_->steps[at.step];
    if (form.call_target == nullptr) return {};
    return base::storable_error(form.call_target(operation_->op.get(), at.point.get()));
}

void Attempt::to_attention(
    store::Session& session, std::string_view reason, const std::string& detail
) {
    const auto now = session.now();
    const auto text = base::storable_error(detail);
    fence_statement(session, sql::to_attention, id_, number_, at_.stored, text, now);
    send_statement(session, sql::insert_attention, id_, number_, at_.stored, reason, text, now);
}

// Written last in its transaction, from the clock of that moment: a slow phase does not eat its own
// lease.
TimePoint Attempt::lease_end(store::Session& session) {
    leased_ = moment();
    return session.now() + engine_.options().lease;
}

core::Moment Attempt::moment() const {
    return {engine_.clock().now(), engine_.clock().steady()};
}

std::optional<TimePoint> Attempt::expiry(TimePoint now) const {
    const Keep keep = operation_->keep.value_or(Keep{engine_.options().keep});
    if (!keep) return std::nullopt;
    return now + std::min<std::chrono::hours>(*keep, longest_keep);
}

}  // namespace pawl::engine
