#include <pawl/detail/rows.hpp>

#include "src/base/error_text.hpp"
#include "src/base/time_text.hpp"
#include "src/core/fault.hpp"
#include "src/engine/attempt.hpp"
#include "src/engine/rejection.hpp"
#include "store/statements.hpp"

#include <utility>

namespace pawl::engine {

using detail::execute_statement;
using detail::fence_statement;
using detail::run_statement;
using Kind = StoreError::Kind;

namespace {

std::optional<std::int64_t> insert_registry(store::Session& session, const std::string& hash) {
    std::optional<std::int64_t> id;
    run_statement(
        session, sql::insert_registry, [&](const detail::Row& row) { id = row.integer(0); }, hash
    );
    return id;
}

// After a failover that lost a piece of the sequence the next ids may be others' (docs/adr/0010).
constexpr int ids_tried = 8;
constexpr std::chrono::milliseconds claim_patience{50};
constexpr std::chrono::milliseconds waiter_patience{5};  // It comes again and again.

bool is_in_doubt(const std::exception_ptr& failed) {
    return store::is_store_error(failed, [](const StoreError& error) {
        return error.effect() == StoreError::Effect::in_doubt;
    });
}

// Why a call that may have been made is not repeated, for the attention list.
struct PersonNeeded {
    std::string_view reason;
    std::string detail;
};

PersonNeeded need_of(core::MustNotCall::Reason why, const KeyRow& row, const std::string& target) {
    using Reason = core::MustNotCall::Reason;
    switch (why) {
        case Reason::forgotten:
            return {"forgotten", "the provider may have forgotten its key"};
        case Reason::elsewhere:
            return {
                "elsewhere",
                "PAWL0018: it went to \"" + row.call_target.value_or("") +
                    "\", and this server calls \"" + target + "\""};
        case Reason::in_doubt:
        case Reason::restored:  // Of a call that this attempt marks itself: attempt_call.cpp.
            break;
    }
    return {"in-doubt", "this call is never repeated"};
}

KeyedRequest stored_request(const detail::OperationForm& operation, const KeyRow& row) {
    KeyedRequest request;
    request.operation = &operation;
    request.principal = row.principal;
    request.key = row.key;
    request.origin = row.origin;
    request.params = row.params;
    request.fingerprint = row.fingerprint;
    return request;
}

}  // namespace

Attempt::Attempt(
    Engine& engine, KeyedRequest request, KeyIdentity identity, std::string hash, OnAnswer on_answer
)
    : engine_{engine},
      operation_{request.operation},
      request_{std::move(request)},
      identity_{std::move(identity)},
      hash_{std::move(hash)},
      on_answer_{std::move(on_answer)} {}

Attempt::Attempt(
    Engine& engine, const detail::OperationForm& operation, const KeyRow& row, OnAnswer on_answer
)
    : engine_{engine},
      operation_{&operation},
      request_{stored_request(operation, row)},
      identity_{key_identity(operation.scope, row.principal, row.key)},
      hash_{row.hash},
      on_answer_{std::move(on_answer)},
      looked_{true},
      seen_{row} {}

void Attempt::claim() {
    if (engine_.preallocated_ids().are_given()) guess_ = engine_.key_cache().guess(hash_);
    // What is stored is told also by a process that can make no more calls.
    if (guess_ == Guess::is_new && !engine_.calls().is_full()) return claim_new();
    look([self = shared_from_this()] { self->claim_new(); });
}

void Attempt::learn(bool known) {
    if (std::exchange(guess_, Guess::is_known) != Guess::is_known) engine_.key_cache().was(known);
}

void Attempt::look(std::function<void()> if_new) {
    auto self = shared_from_this();
    looked_ = true;
    look_for_key(
        engine_.store(),
        hash_,
        [self, if_new = std::move(if_new)](
            const std::exception_ptr& failed, std::optional<KeyRow>& found, TimePoint now
        ) {
            if (failed) return self->end(failure_of(failed).refusal);
            self->seen_ = std::move(found);
            self->learn(self->seen_.has_value());
            if (!self->seen_) return if_new();
            if (auto answer = self->decide(self->seen_, now))
                return self->end_claim(std::move(*answer));
            self->claim_new();
        }
    );
}

// A key that is not known to be stored already, or one that may be run (again).
void Attempt::claim_new() {
    if (engine_.calls().is_full())
        return end(Rejection{
            .why = Reason::overloaded, .detail = "twice as many calls as calls_max are in hand"});
    try {
        if (request_.params.empty())
            request_.params = operation_->encode_request(request_.request.get());
    } catch (...) {  // A number that JSON has not, in a default of the request.
        return end(failure_of(std::current_exception()).refusal);
    }
    write_first();
}

void Attempt::take_over_stored() {
    write_first();
}

void Attempt::write_first() {
    class First final : public store::Work {
    public:
        explicit First(std::shared_ptr<Attempt> attempt) : attempt_{std::move(attempt)} {}
        void run(store::Session& session) override { attempt_->run_first(session); }
        void done(std::exception_ptr failed) noexcept override {
            attempt_->on_first(std::move(failed));
        }
        std::chrono::milliseconds deadline() const override {
            return attempt_->engine_.options().phase_deadline;
        }
        Isolation isolation() const override { return attempt_->operation_->isolation; }
        const void* kind() const override { return attempt_->operation_; }

    private:
        std::shared_ptr<Attempt> attempt_;
    };
    PAWL_FAULT("engine.claim.before");
    engine_.store().write(std::make_unique<First>(shared_from_this()));
}

void Attempt::run_first(store::Session& session) {
    verdict_.reset();
    reached_.reset();
    // Whoever holds the key's row is at work on it: busy, and not worth a wait.
    session.lock_patience(waits_until_ ? waiter_patience : claim_patience);
    // The row as it is now: between the read and this transaction another process may have been
    // here.
    if (seen_) seen_ = find_key(session, hash_);
    if (!seen_ && request_.request && !waits_for_id_) {
        if (!ahead_) ahead_ = engine_.preallocated_ids().take();
        if (ahead_) {
            // Without a wait: if it was not the first, what follows fails with it.
            fence_statement(session, *ahead_->claim, ahead_->id, hash_);
            return run_fresh(session, ahead_->id, 0);
        }
    }
    for (int n = 0; !seen_ && request_.request && n < ids_tried; ++n) {
        if (const auto id = insert_registry(session, hash_)) return run_fresh(session, *id, 0);
        seen_ = find_key(session, hash_);
    }
    verdict_ = decide(seen_, session.now());
    if (verdict_) return;
    if (seen_ && !seen_->expired) return run_resumed(session, *seen_);
    if (!seen_ ||
        !request_.request) {  // The completer's key is gone: there is nothing left to complete.
        verdict_ = Rejection{.why = Reason::in_progress};
        return;
    }
    const auto revived = run_statement(
        session,
        sql::revive_registry,
        [&](const detail::Row& row) {
            id_ = row.integer(0);
            generation_ = static_cast<int>(row.integer(1));
        },
        hash_
    );
    if (revived == 0) {
        verdict_ = Rejection{.why = Reason::in_progress};
        return;
    }
    run_fresh(session, id_, generation_);
}

void Attempt::run_fresh(store::Session& session, std::int64_t id, int generation) {
    id_ = id;
    number_ = 1;
    generation_ = generation;
    session.lock_patience(0ms);
    const auto start = operation_->start(
        {.key_id = id,
         .principal = request_.principal,
         .origin = request_.origin,
         .key = request_.key},
        request_.request.get()
    );
    reached_ = advance_from(session, {0, start, "started"});
    insert_row(session, *reached_, {});
}

// False: another attempt was faster.
bool Attempt::take_over(store::Session& session, const KeyRow& row) {
    const auto now = session.now();
    const auto until = lease_end(session);
    const auto bound = core::lease_bound(now, engine_.options().lease);
    return execute_statement(
               session, sql::take_over, row.id, row.attempt, now, until, bound, row.recovery_point
           ) != 0;
}

void Attempt::run_resumed(store::Session& session, const KeyRow& row) {
    if (!take_over(session, row)) {
        verdict_ = Rejection{.why = Reason::in_progress};
        return;
    }
    id_ = row.id;
    number_ = row.attempt + 1;
    generation_ = row.generation;
    session.lock_patience(0ms);
    if (step().foreign) return resume_at_call(session, row);
    reached_ = advance_from(session, at_);
    move_row(session, *reached_);
}

// At a foreign call that may have been made before: repairs F7 and F9.
void Attempt::resume_at_call(store::Session& session, const KeyRow& row) {
    const auto now = session.now();
    const auto target = call_target(at_);
    const auto rule = core::decide_call(
        {.again = step().again,
         .called_at = row.called_at,
         .calling = row.calling,
         .provider_memory = operation_->provider_memory,
         .called_target = row.call_target ? std::string_view{*row.call_target} : "",
         .target = target},
        now
    );
    if (const auto* stop = std::get_if<core::MustNotCall>(&rule)) {
        const auto needs = need_of(stop->why, row, target);
        to_attention(session, needs.reason, base::with_earlier_call(needs.detail, row.called_at));
        verdict_ = Rejection{.why = Reason::needs_attention};
        return;
    }
    reached_ = at_;
    if (row.call_key && row.called_at && (step().again != Repeat::never || row.calling)) {
        mark_ = CallMark{*row.call_key, *row.called_at, false, row.call_target.value_or("")};
        return;  // take_over has written all that was to be written.
    }
    mark_call(now, at_);
    if (row.call_key) mark_->key = *row.call_key;
    move_row(session, *reached_);
}

std::optional<Answer> Attempt::decide(std::optional<KeyRow>& found, TimePoint now) {
    std::optional<core::KeyFacts> facts;
    if (found) {
        facts = core::KeyFacts{
            .expired = found->expired,
            .same_request = found->expired || same_request(*found),
            .standing = found->standing,
            .lease_until = found->lease_until};
        if (!found->expired && facts->same_request) engine_.confirm(hash_);
        facts->point_known = found->expired || found->standing != core::Standing::open ||
                             !facts->same_request || load_point(*found);
    }
    const auto claim = core::decide_claim(
        facts ? &*facts : nullptr, operation_->re_execute, now, engine_.options().lease
    );
    struct Decide {
        std::optional<KeyRow>& found;
        using Result = std::optional<Answer>;
        Result operator()(core::Fresh) const { return std::nullopt; }
        Result operator()(core::Resume) const { return std::nullopt; }
        Result operator()(core::ReExecute) const { return std::nullopt; }
        Result operator()(core::Replay) const {
            return StoredResponse{std::move(found->response), true, found->expires_at};
        }
        Result operator()(core::Busy) const { return Rejection{.why = Reason::in_progress}; }
        Result operator()(core::Mismatch) const { return Rejection{.why = Reason::key_reused}; }
        Result operator()(core::Expired) const {
            return Rejection{
                .why = Reason::key_expired, .outcome = found->outcome, .location = found->location};
        }
        Result operator()(core::NeedsPerson) const {
            return Rejection{.why = Reason::needs_attention};
        }
        Result operator()(core::Stranded) const {
            return Rejection{
                .why = Reason::stranded,
                .detail = "PAWL0007: recovery point " + found->recovery_point,
                .retry_after = 5s};
        }
    };
    return std::visit(Decide{found}, claim);
}

bool Attempt::same_request(const KeyRow& row) const {
    return engine::same_request(engine_.installation(), request_, row);
}

// Sets at_; false if this binary does not know the point, or its data do not decode: the key is
// stranded.
bool Attempt::load_point(const KeyRow& row) {
    if (row.operation != operation_->name) return false;
    const auto at = operation_->step_from(row.recovery_point);
    if (!at) return false;
    const auto& form = operation_->steps[*at];
    if (form.decode != nullptr) {
        auto decoded = form.decode(row.recovery_data);
        auto* point = std::get_if<detail::Anything>(&decoded);
        if (point == nullptr) return false;
        at_ = {*at, std::move(*point), row.recovery_point};
        return true;
    }
    auto decoded = operation_->decode_request(row.params);
    auto* request = std::get_if<detail::Anything>(&decoded);
    if (request == nullptr) return false;
    const auto start = operation_->start(
        {.key_id = row.id, .principal = row.principal, .origin = row.origin, .key = row.key},
        request->get()
    );
    at_ = {*at, start, row.recovery_point};
    return true;
}

void Attempt::on_first(std::exception_ptr failed) {
    if (!failed) {
        PAWL_FAULT("engine.claim.after");
        learn(seen_.has_value());
        if (verdict_) return end_claim(std::move(*verdict_));
        engine_.confirm(hash_);
        return go_on();
    }
    if (met_a_holder(failed)) return on_locked();
    auto failure = failure_of(failed);
    if (is_in_doubt(failed)) return look_after_doubt(failure.refusal);
    id_ = seen_ ? seen_->id : 0;  // It is undone.
    if (lost_claim(failed)) return claim_anew();
    if (looked_) return on_failed_claim(std::move(failure));
    // What is stored can be told also where nothing can be written, and whatever its phases would
    // say now.
    look([self = shared_from_this(), failure] { self->on_failed_claim(failure); });
}

// A lock that a phase waited for in vain is no holder of the key: its statements have names of
// their own.
bool Attempt::met_a_holder(const std::exception_ptr& failed) const {
    return store::is_store_error(failed, [this](const StoreError& error) {
        const auto of = error.statement();
        return error.kind() == Kind::locked &&
               (of == sql::find_key.name || of == sql::insert_registry.name ||
                of == sql::take_over.name || of == sql::revive_registry.name ||
                (ahead_ && of == ahead_->claim->name));
    });
}

// Whoever holds the lock is at work on this key; or on another, under the id that was taken ahead:
// after a crash of PostgreSQL two servers may have the same. Then this key may have its answer.
void Attempt::on_locked() {
    ahead_.reset();
    if (looked_) return wait_or_refuse();
    look([self = shared_from_this()] { self->wait_or_refuse(); });
}

// Somebody has the key, and was not seen; or somebody the id: of those at hand more may be taken.
void Attempt::claim_anew() {
    ahead_.reset();
    waits_for_id_ = true;
    look([self = shared_from_this()] {
        self->engine_.preallocated_ids().forget();
        self->write_first();
    });
}

bool Attempt::lost_claim(const std::exception_ptr& failed) const {
    if (!ahead_) return false;
    return store::is_store_error(failed, [this](const StoreError& error) {
        return error.kind() == Kind::fenced && error.statement() == ahead_->claim->name;
    });
}

void Attempt::on_failed_claim(Failure failure) {
    if (failure.passing) return end(std::move(failure.refusal));
    const auto called_at = seen_ && !seen_->expired ? seen_->called_at : std::nullopt;
    record_failed_claim(base::with_earlier_call(std::move(failure.refusal.detail), called_at));
}

void Attempt::end_claim(Answer answer) {
    const auto* refused = std::get_if<Rejection>(&answer);
    if (refused != nullptr && refused->why == Reason::in_progress) return wait_or_refuse();
    end(std::move(answer));
}

// The commit got no answer. A row under the id that this transaction alone was given says that it
// happened: the attempt goes on, and nobody waits for the end of its lease. A take-over can't be
// told from another's of the same number: then the lease decides, as after a crash.
void Attempt::look_after_doubt(const Rejection& refusal) {
    auto self = shared_from_this();
    look_for_key(
        engine_.store(),
        hash_,
        [self,
         refusal](const std::exception_ptr& failed, const std::optional<KeyRow>& row, TimePoint) {
            const bool ours = !failed && row && !row->expired && self->reached_ &&
                              row->id == self->id_ && self->number_ == 1 && row->attempt == 1 &&
                              row->fingerprint == self->request_.fingerprint;
            if (ours && !self->verdict_) {
                self->engine_.confirm(self->hash_);
                return self->go_on();
            }
            self->end(refusal);
        }
    );
}

// The phases were undone, and with them the claim. It is made alone, with the error, so that the
// completer and people see the request; whoever else came meanwhile wins.
void Attempt::record_failed_claim(const std::string& error) {
    auto self = shared_from_this();
    engine_.store().write(store::work(
        [self, error](store::Session& session) { self->run_failed_claim(session, error); },
        [self, error](const std::exception_ptr&) {
            self->end(Rejection{.why = Reason::internal, .detail = error});
        }
    ));
}

void Attempt::run_failed_claim(store::Session& session, const std::string& error) {
    if (!seen_) {
        const auto id = insert_registry(session, hash_);
        if (!id) return;
        id_ = *id;
        number_ = 1;
        insert_row(session, Position{0, nullptr, "started"}, base::storable_error(error));
        return;
    }
    if (seen_->expired) return;  // A re-execution that failed: the key stays expired.
    if (!take_over(session, *seen_)) return;
    execute_statement(
        session,
        sql::fail_attempt,
        seen_->id,
        seen_->attempt + 1,
        seen_->recovery_point,
        base::storable_error(error),
        session.now()
    );
}

}  // namespace pawl::engine
