#include <pawl/detail/rows.hpp>

#include "src/base/error_text.hpp"
#include "src/base/time_text.hpp"
#include "src/core/fault.hpp"
#include "src/engine/attempt.hpp"
#include "src/engine/server_settings.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <utility>

namespace pawl::engine {

using detail::execute_statement;
using detail::fence_statement;
using detail::run_statement;
using Kind = StoreError::Kind;

namespace {

// A failover may lose a part of the sequence: then the next ids are already in use
// (docs/adr/0010).
constexpr int ids_tried = 8;
constexpr std::chrono::milliseconds claim_lock_timeout{50};
// Shorter, as a waiting request tries again and again.
constexpr std::chrono::milliseconds waiter_lock_timeout{5};

bool is_in_doubt(const std::exception_ptr& failed) {
    return store::is_store_error(failed, [](const StoreError& error) {
        return error.effect() == StoreError::Effect::in_doubt;
    });
}

KeyedRequest stored_request(const detail::ErasedOperation& operation, const KeyRow& row) {
    KeyedRequest request;
    request.operation = &operation;
    request.principal = row.principal;
    request.key = row.key;
    request.origin = row.origin;
    request.params = row.params;
    request.fingerprint = row.fingerprint;
    return request;
}

// What a crash of the earlier attempt has left: it wrote no event of its end.
std::string left_by(const KeyRow& row) {
    auto text =
        "attempt " + std::to_string(row.attempt) +
        (row.lease_until ? " left it, with a lease until " + base::time_text(*row.lease_until)
                         : " had released it");
    if (row.called_at) text += "; a call was begun at " + base::time_text(*row.called_at);
    return text;
}

}  // namespace

Attempt::Attempt(Engine& engine, KeyedRequest request, std::string hash, OnAnswer on_answer)
    : engine_{engine},
      operation_{request.operation},
      request_{std::move(request)},
      hash_{std::move(hash)},
      on_answer_{std::move(on_answer)} {}

Attempt::Attempt(
    Engine& engine, const detail::ErasedOperation& operation, const KeyRow& row, OnAnswer on_answer
)
    : Attempt{engine, stored_request(operation, row), row.hash, std::move(on_answer)} {
    seen_ = row;
}

Attempt::Next Attempt::claim_if_room() {
    if (engine_.calls().is_full()) {
        answer_ = Rejection{
            .reason = Reason::overloaded,
            .detail = "twice as many calls as calls_max are in flight"};
        return Event::rejected;
    }
    try {
        if (request_.params.empty())
            request_.params = operation_->encode_request(request_.request.get());
    } catch (...) {  // A default of the request is a number that JSON does not have.
        (void)event_of_failure(std::current_exception());
        return Event::rejected;
    }
    return commit_claim();
}

Attempt::Next Attempt::commit_claim() {
    PAWL_FAULT("engine.claim.before");
    return commit(&Attempt::run_claim, &Attempt::claimed, operation_);
}

Attempt::Outcome Attempt::run_claim(store::Session& session) {
    listed_ = false;
    // The session that locks the row works on the key: answer busy instead of waiting.
    session.set_lock_timeout(waits_until_ ? waiter_lock_timeout : claim_lock_timeout);
    // Another process may have changed the row since the query.
    if (seen_) seen_ = find_key(session, hash_);
    if (!seen_ && request_.request && !waits_for_id_) {
        if (!preallocated_) preallocated_ = engine_.preallocated_ids().take();
        if (preallocated_) {
            // Sent without waiting for its result: if it touches no row, the transaction fails.
            fence_statement(session, *preallocated_->claim, preallocated_->id, hash_);
            return run_fresh(session, preallocated_->id, 0);
        }
    }
    for (int n = 0; !seen_ && request_.request && n < ids_tried; ++n) {
        if (const auto id = claim_key(session, hash_)) return run_fresh(session, *id, 0);
        seen_ = find_key(session, hash_);
    }
    if (auto answer = decide(seen_, session.now())) return std::move(*answer);
    if (seen_ && !seen_->expired) return run_resumed(session, *seen_);
    // The completer's key is gone.
    if (!seen_ || !request_.request) return Rejection{.reason = Reason::in_progress};
    return re_execute(session);
}

Attempt::Outcome Attempt::re_execute(store::Session& session) {
    const auto claimed = run_statement(
        session,
        sql::claim_expired_key,
        [&](const detail::Row& row) {
            facts_.id = row.integer(0);
            facts_.generation = static_cast<int>(row.integer(1));
        },
        hash_
    );
    if (claimed == 0) return Rejection{.reason = Reason::in_progress};
    execute_statement(session, sql::move_key_references, seen_->id, facts_.id);
    return run_fresh(session, facts_.id, facts_.generation);
}

Attempt::Outcome Attempt::run_fresh(store::Session& session, std::int64_t id, int generation) {
    facts_.id = id;
    facts_.number = 1;
    facts_.generation = generation;
    session.set_lock_timeout(0ms);
    const auto start = operation_->start(
        {.key_id = id,
         .principal = request_.principal,
         .origin = request_.origin,
         .key = request_.key},
        request_.request.get()
    );
    begin_trace();
    note("claimed", {.by = actor(), .point = "started"});
    references_.add_request(request_.request_id, facts_.number);
    auto reached = advance_from(session, {0, start, "started"});
    insert_row(session, reached, {});
    return reached;
}

// Another server that runs calls the provider of this key's call, or called it: only that server
// can repeat the call. A tool leaves each such key to the servers.
bool Attempt::is_of_other_server(store::Session& session, const KeyRow& row) {
    if (!step().foreign || !row.called_at || !row.call_target) return false;
    const auto target = target_today(row, stored_provider(row));
    if (!core::goes_elsewhere(
            {.called_at = row.called_at, .called_target = *row.call_target, .target = target}
        ))
        return false;
    if (engine_.options().beside_servers) return true;
    const auto others = running_servers(session, engine_.store());
    if (others.empty()) return false;
    std::optional<std::int64_t> last;
    run_statement(
        session,
        sql::find_server_of_key,
        [&](const detail::Row& found) {
            last = detail::column_as<std::optional<std::int64_t>>(found, 0, "find_server_of_key");
        },
        row.id
    );
    return std::ranges::any_of(others, [&](const RunningServer& other) {
        return last == other.id || core::has_value(other.settings, *row.call_target);
    });
}

// False: another attempt was faster.
bool Attempt::take_over(store::Session& session, const KeyRow& row) {
    const auto now = session.now();
    const auto until = lease_end(session);
    const auto bound = core::lease_bound(now, engine_.options().lease);
    return execute_statement(
               session,
               sql::take_over,
               row.id,
               row.attempt,
               now,
               until,
               bound,
               row.recovery_point,
               engine_.store().server()
           ) != 0;
}

Attempt::Outcome Attempt::run_resumed(store::Session& session, const KeyRow& row) {
    const auto result = step().foreign ? load_result(session, row) : StoredResult::none;
    if (result == StoredResult::stranded)
        return Rejection{
            .reason = Reason::stranded,
            .detail = "PAWL0007: the stored result of the call from " + row.recovery_point};
    if (result == StoredResult::none && is_of_other_server(session, row))
        return Rejection{
            .reason = Reason::other_server,
            .detail = "PAWL0018: its call went to \"" + *row.call_target +
                      "\", and this server calls \"" + target_today(row, stored_provider(row)) +
                      "\"",
            .retry_after = 5s,
            .code = "PAWL0018"};
    if (!take_over(session, row)) return Rejection{.reason = Reason::in_progress};
    facts_.id = row.id;
    facts_.number = row.attempt + 1;
    facts_.generation = row.generation;
    session.set_lock_timeout(0ms);
    join_trace(session);
    note("taken-over", {.by = actor(), .detail = left_by(row)});
    references_.add_request(request_.request_id, facts_.number);
    if (step().foreign) {
        auto resumed = resume_at_call(session, row);
        write_notes(session);
        return resumed;
    }
    auto reached = advance_from(session, facts_.at);
    move_row(session, reached);
    return reached;
}

// An earlier attempt may have made the call: fixes F7 and F9.
Attempt::Outcome Attempt::resume_at_call(store::Session& session, const KeyRow& row) {
    const auto now = session.now();
    asking_.reset();
    load_refusals(session, row.id);
    const auto* const provider = stored_provider(row);
    const auto again = provider != nullptr ? provider->again : step().again;
    const auto target = target_today(row, provider);
    facts_.mark = CallMark{
        row.call_key.value_or(""),
        row.called_at.value_or(now),
        false,
        row.call_target.value_or(""),
        false,
        again,
        provider};
    if (result_was_stored_) return facts_.at;
    const bool routed = step().route != nullptr;
    const auto rule = core::decide_call(
        {.again = again,
         .called_at = row.called_at,
         .calling = row.calling,
         .provider_key_lifetime = key_lifetime(),
         .called_target = row.call_target ? std::string_view{*row.call_target} : "",
         .target = target,
         // In the lost time this call may have been proven not made, and another provider called.
         .restored = routed && row.called_at &&
                     engine_.may_have_gone_on(row.id, row.generation, *row.called_at),
         .routed = routed,
         .ask_after = ask_after()},
        now
    );
    Outcome reached = facts_.at;
    if (const auto* stop = std::get_if<core::MustNotCall>(&rule)) {
        need_person(stop->why, &row, target);
        if (may_inquire(stop->why)) {
            asking_ = Asking{
                .generation = facts_.generation, .since = find_inquiry(session, row), .now = now};
            return reached;
        }
        to_attention(session);
        return Rejection{.reason = Reason::needs_attention};
    }
    // take_over has written the row already.
    if (row.call_key && row.called_at && (again != Repeat::never || row.calling)) return reached;
    mark_call(now, facts_.at);
    if (row.call_key) facts_.mark->key = *row.call_key;
    move_row(session, reached);
    return reached;
}

std::optional<Answer> Attempt::decide(std::optional<KeyRow>& found, TimePoint now) {
    std::optional<core::KeyFacts> facts;
    if (found) {
        const auto same = found->expired ? std::optional{true}
                                         : same_request(engine_.installation(), request_, *found);
        facts = core::KeyFacts{
            .expired = found->expired,
            .same_request = same.value_or(false),
            .comparable = same.has_value(),
            .status = found->status,
            .lease_until = found->lease_until,
            .held = found->held};
        if (!found->expired && facts->same_request) engine_.confirm(hash_);
        facts->point_known = found->expired || found->status != core::KeyStatus::open ||
                             !facts->same_request || load_point(*found);
    }
    const auto claim = core::decide_claim(
        facts ? &*facts : nullptr, operation_->settings.re_execute, now, engine_.options().lease
    );
    // A job begins its request, and the completer goes on with it.
    if (request_.of_a_job && std::holds_alternative<core::Resume>(claim))
        return Rejection{.reason = Reason::in_progress};
    return answer_of(claim, found);
}

// Sets the position; false if this binary does not know the point, or its data do not decode: the
// key is stranded.
bool Attempt::load_point(const KeyRow& row) {
    if (row.operation != operation_->name) return false;
    const auto at = operation_->step_from(row.recovery_point);
    if (!at) return false;
    const auto& form = operation_->steps[*at];
    if (form.decode != nullptr) {
        auto decoded = form.decode(row.recovery_data);
        auto* point = std::get_if<detail::ErasedValue>(&decoded);
        if (point == nullptr) return false;
        facts_.at = {*at, std::move(*point), row.recovery_point};
        return true;
    }
    auto decoded = operation_->decode_request(row.params);
    auto* request = std::get_if<detail::ErasedValue>(&decoded);
    if (request == nullptr) return false;
    const auto start = operation_->start(
        {.key_id = row.id, .principal = row.principal, .origin = row.origin, .key = row.key},
        request->get()
    );
    facts_.at = {*at, start, row.recovery_point};
    return true;
}

Attempt::Event Attempt::claimed(Failed failed) {
    if (!failed) {
        PAWL_FAULT("engine.claim.after");
        learn(seen_.has_value());
        if (has_run()) engine_.confirm(hash_);
        if (auto* by = engine_.observer(); by != nullptr && has_run() && facts_.number > 1)
            by->on_takeover(*operation_);
        log_if_listed();
        return committed();
    }
    if (key_is_locked(failed)) {
        preallocated_.reset();
        return Event::locked;
    }
    const auto event = event_of_failure(failed);
    if (is_in_doubt(failed)) return Event::in_doubt;
    facts_.id = seen_ ? seen_->id : 0;  // The claim was rolled back.
    if (!lost_id(failed)) return event;
    preallocated_.reset();
    waits_for_id_ = true;
    return Event::lost_id;
}

// Another session works on this key, or on another key with the preallocated id: after a crash of
// PostgreSQL two servers may have the same id. Locks that a phase waits for do not count: their
// statements have other names.
bool Attempt::key_is_locked(Failed failed) const {
    return store::is_store_error(failed, [this](const StoreError& error) {
        const auto of = error.statement();
        return error.kind() == Kind::locked &&
               (of == sql::find_key.name || of == sql::claim_key.name ||
                of == sql::take_over.name || of == sql::claim_expired_key.name ||
                (preallocated_ && of == preallocated_->claim->name));
    });
}

bool Attempt::lost_id(Failed failed) const {
    if (!preallocated_) return false;
    return store::is_store_error(failed, [this](const StoreError& error) {
        return error.kind() == Kind::fenced && error.statement() == preallocated_->claim->name;
    });
}

// The claim was rolled back with the phases. It is committed alone, with the error, so that the
// completer and operators see the request. If another attempt claimed the key meanwhile, it wins.
Attempt::Next Attempt::record_failed_claim() {
    const auto called_at = seen_ && !seen_->expired ? seen_->called_at : std::nullopt;
    refuse(
        Reason::internal, base::with_earlier_call(std::get<Rejection>(answer_).detail, called_at)
    );
    return write(&Attempt::run_failed_claim, &Attempt::written);
}

void Attempt::run_failed_claim(store::Session& session) {
    if (!seen_) {
        const auto id = claim_key(session, hash_);
        if (!id) return;
        facts_.id = *id;
        facts_.number = 1;
        references_.add_request(request_.request_id, facts_.number);
        Outcome started = Position{0, nullptr, "started"};
        return insert_row(session, started, base::sanitized_error(error_));
    }
    if (seen_->expired) return;  // A re-execution that failed: the key stays expired.
    if (!take_over(session, *seen_)) return;
    references_.add_request(request_.request_id, seen_->attempt + 1);
    references_.write(session, seen_->id);
    execute_statement(
        session,
        sql::fail_attempt,
        seen_->id,
        seen_->attempt + 1,
        seen_->recovery_point,
        base::sanitized_error(error_),
        session.now()
    );
}

}  // namespace pawl::engine
