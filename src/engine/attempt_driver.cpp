#include "src/base/error_text.hpp"
#include "src/base/log.hpp"
#include "src/core/fault.hpp"
#include "src/engine/attempt.hpp"
#include "store/statements.hpp"

#include <utility>

namespace pawl::engine {

void Attempt::on(Event event) {
    for (Next next{event}; next;) {
        if (auto* by = engine_.observer()) by->on_event(*next);
        const auto& transition = core::attempt::step(state_, *next);
        state_ = transition.next;
        // nullopt: another thread may have gone on already, or ended this attempt.
        next = perform(transition.action);
    }
}

Attempt::Next Attempt::perform(Action action) {
    switch (action) {
        case Action::none:
            return std::nullopt;
        case Action::look_up:
            return look_up(hash_, &Attempt::found_key);
        case Action::look_up_commit:
            return look_up(hash_, &Attempt::found_commit);
        case Action::look_up_holder:
            return look_up(facts_.id, &Attempt::found_holder);
        case Action::claim:
            return claim_if_room();
        case Action::claim_with_other_ids:
            engine_.preallocated_ids().forget();
            return commit_claim();
        case Action::take_over:
            return commit_claim();
        case Action::settle:
            PAWL_FAULT("engine.settle.before");
            return commit(&Attempt::run_settlement, &Attempt::settled, nullptr);
        case Action::record_failed_claim:
            return record_failed_claim();
        case Action::record_failed_settlement:
            error_ = std::get<Rejection>(answer_).detail;
            return write(&Attempt::run_failed_settlement, &Attempt::written);
        case Action::park:
            return park();
        case Action::serve_next:
            return engine_.hand_over_wait(hash_, on_answer_, *waits_until_) ? Event::next_client
                                                                            : Event::no_client;
        case Action::make_call:
            return make_call();
        case Action::inquire:
            return post_inquiry();
        case Action::begin_anew:
            PAWL_FAULT("engine.begin_anew.before");
            return commit(&Attempt::run_begin_anew, &Attempt::began_anew, nullptr);
        case Action::commit_keep:
            return commit_keep(core::KeepExtent::with_phases);
        case Action::commit_keep_only:
            return commit_keep(core::KeepExtent::keeper_alone);
        case Action::unlock:
            return unlock(sql::fail_attempt);
        case Action::unlock_asked:
            return unlock(sql::fail_inquiry);
        case Action::unlock_unmarked:
            return unlock(sql::clear_calling);
        case Action::hand_over:
            return write(&Attempt::run_hand_over, &Attempt::handed_over);
        case Action::store_result:
            return write(&Attempt::run_store_result, &Attempt::result_stored);
        case Action::note_result:
            return write(&Attempt::run_note_result, &Attempt::noted);
        case Action::retry_later:
            return retry_later();
        case Action::respond:
            return respond();
    }
    return std::nullopt;
}

Attempt::Next Attempt::write(Run run, Done done) {
    engine_.store().write(store::work(
        [self = shared_from_this(), run = std::move(run)](store::Session& session) {
            self->timeline_.begin();
            self->references_.clear();
            run(*self, session);
        },
        [self = shared_from_this(), done](Failed failed) {
            self->timeline_.end(!failed);
            self->on((self.get()->*done)(failed));
        }
    ));
    return std::nullopt;
}

Attempt::Next Attempt::commit(Phases run, Done done, const void* kind) {
    engine_.store().write(store::work(
        [self = shared_from_this(), run](store::Session& session) {
            self->timeline_.begin();
            self->references_.clear();
            self->outcome_.reset();
            self->outcome_ = (self.get()->*run)(session);
        },
        [self = shared_from_this(), done](Failed failed) {
            self->timeline_.end(!failed);
            self->on((self.get()->*done)(failed));
        },
        engine_.options().phase_deadline,
        operation_->settings.isolation,
        kind
    ));
    return std::nullopt;
}

detail::TxContext Attempt::tx_context(store::Session& session) {
    auto context = engine_.tx_context(session, facts_.id, staged_, operation_->settings.isolation);
    context.references = &references_;
    context.trace = trace();
    context.running.label.name = operation_->name;
    return context;
}

void Attempt::note(std::string_view what, TimelineEvent event) {
    event.at = engine_.clock().now();
    event.what = what;
    // Only what begins an attempt says who began it.
    if (event.by && trace() != nullptr) event.trace = trace()->text();
    if (!event.point) event.point = facts_.at.stored;
    timeline_.add(std::move(event));
}

// For a request that came in no trace, as by Service::run().
void Attempt::begin_trace() {
    if (request_.trace || !engine_.records_traces()) return;
    request_.trace = engine_.begin_trace(std::nullopt);
    own_span_ = engine_.clock().steady();
}

// In the transaction that takes the key over. A request goes on in its client's trace, the
// completer in that of the attempt before, and a link names that attempt's span.
void Attempt::join_trace(store::Session& session) {
    if (!engine_.records_traces()) return;
    auto earlier = find_trace(session, hash_);
    if (!request_.trace) {
        request_.trace = engine_.continue_trace(earlier);
        own_span_ = engine_.clock().steady();
    }
    request_.trace->link = std::move(earlier);
}

void Attempt::end_trace() {
    if (!own_span_) return;
    const auto by = settlement_ ? std::string{"operator"} : actor();
    engine_.observer()->on_attempt(
        {*operation_, *request_.trace, by, facts_.number, hash_, answer_, *own_span_}
    );
}

std::string Attempt::actor() const {
    if (settlement_) return settlement_->by;
    if (!request_.request) return "completer";
    return request_.of_a_job ? "job" : "client";
}

Attempt::Event Attempt::begin() {
    if (engine_.preallocated_ids().is_supported()) guess_ = engine_.seen_keys().guess(hash_);
    return core::attempt::event_of(core::attempt::RequestFacts{
        .probably_new = guess_ == SeenKeys::Guess::is_new, .pool_full = engine_.calls().is_full()});
}

void Attempt::learn(bool known) {
    using Guess = SeenKeys::Guess;
    if (std::exchange(guess_, Guess::is_known) != Guess::is_known)
        engine_.seen_keys().record_outcome(known);
}

template <class By>
Attempt::Next Attempt::look_up(const By& by, Found found) {
    lookup_key(
        engine_.store(),
        by,
        [self = shared_from_this(), found](
            Failed failed, std::optional<KeyRow>& row, TimePoint now
        ) { self->on((self.get()->*found)(failed, row, now)); }
    );
    return std::nullopt;
}

Attempt::Event Attempt::found_key(Failed failed, std::optional<KeyRow>& found, TimePoint now) {
    if (failed) {
        answer_ = failure_of(failed).rejection;
        return Event::lookup_failed;
    }
    seen_ = std::move(found);
    learn(seen_.has_value());
    if (!seen_) return Event::not_found;
    auto answer = decide(seen_, now);
    if (!answer) return Event::claimable;
    answer_ = std::move(*answer);
    return event_of_answer();
}

// A row under the id that the claim alone was given says that its commit happened: the attempt goes
// on, and nobody waits for the end of its lease.
Attempt::Event Attempt::found_commit(Failed failed, std::optional<KeyRow>& found, TimePoint) {
    if (failed || !found || found->expired || !has_run()) return Event::not_ours;
    const core::attempt::DoubtFacts facts{
        .found_id = found->id,
        .found_attempt = found->attempt,
        .same_fingerprint = found->fingerprint == request_.fingerprint,
        .our_id = facts_.id,
        .our_attempt = facts_.number};
    if (!core::attempt::is_committed(facts)) return Event::not_ours;
    note("claimed", {.by = actor(), .detail = "the commit got no answer, and was found"});
    timeline_.keep();
    engine_.confirm(hash_);
    return committed();
}

Attempt::Event Attempt::found_holder(Failed failed, std::optional<KeyRow>& found, TimePoint) {
    if (failed) {
        answer_ = failure_of(failed).rejection;
        return Event::lookup_failed;
    }
    answer_ = Rejection{.reason = Reason::in_progress};
    if (found && !found->expired && found->status == core::KeyStatus::finished)
        answer_ = StoredResponse{std::move(found->response), true, found->expires_at};
    if (found && !found->expired && found->status == core::KeyStatus::attention)
        answer_ = Rejection{.reason = Reason::needs_attention};
    return event_of_answer();
}

// Nothing of this attempt is written, so it can begin anew at its claim as often as needed. The
// completer does not wait: it comes again by itself.
Attempt::Next Attempt::park() {
    using Parked = Waiters::Parked;
    const auto longest = operation_->settings.in_progress.wait;
    answer_ = Rejection{.reason = Reason::in_progress};
    if (longest.count() == 0 || !request_.request) return Event::rejected;
    const auto now = engine_.clock().steady();
    if (!waits_until_) waits_until_ = now + longest;
    if (now >= *waits_until_) return Event::time_over;
    const auto wake = [self = shared_from_this()](Waiters::Woken why) {
        self->on(self->woken(why));
    };
    const auto parked = engine_.waiters().park(hash_, *waits_until_, wake);
    if (parked == Parked::waits) return std::nullopt;
    if (parked == Parked::too_many) return Event::rejected;
    return woken(Waiters::Woken::stopping);
}

Attempt::Event Attempt::woken(Waiters::Woken woken) {
    using Woken = Waiters::Woken;
    if (woken == Woken::retry_claim) return begin();
    if (woken == Woken::too_late) return Event::time_over;
    answer_ = Rejection{.reason = Reason::stopping};
    return Event::stopping;
}

// A result that can't be asked for again stays in memory until it can be written; its client need
// not wait for that. If the process ends, the mark of the call stands in the row, and the next
// start asks a person.
Attempt::Next Attempt::retry_later() {
    log::limited_warning(
        "result_not_recorded",
        std::to_string(facts_.id),
        {{"key_id", facts_.id}, {"point", facts_.at.stored}}
    );
    if (engine_.calls().stop_token().stop_requested()) return Event::stopping;
    if (on_answer_) std::exchange(on_answer_, nullptr)(answer_);
    engine_.timers().after(std::chrono::seconds{1}, [self = shared_from_this()] {
        self->on(Event::due);
    });
    return std::nullopt;
}

Attempt::Event Attempt::event_of_answer() const {
    const auto* refused = std::get_if<Rejection>(&answer_);
    return refused != nullptr && refused->reason == Reason::in_progress ? Event::busy
                                                                        : Event::answered;
}

Attempt::Event Attempt::event_of_failure(Failed failed) {
    auto failure = failure_of(failed);
    answer_ = std::move(failure.rejection);
    return failure.transient ? Event::transient : Event::defect;
}

bool Attempt::is_fenced(Failed failed) {
    return store::is_store_error(failed, StoreError::Kind::fenced);
}

Attempt::Event Attempt::event_of_fence() const {
    using core::attempt::HasResult;
    return core::attempt::event_of_fence(again(), result_ ? HasResult::yes : HasResult::no);
}

bool Attempt::has_run() const {
    return outcome_ && !std::holds_alternative<Answer>(*outcome_);
}

Attempt::Event Attempt::committed() {
    if (std::exchange(staged_, false)) engine_.staged();
    if (has_run() && request_.trace) request_.trace->at_work = true;
    if (auto* position = std::get_if<Position>(&*outcome_)) {
        facts_.at = std::move(*position);
        if (result_was_stored_) return Event::reached_result;
        return asking_ ? Event::reached_doubt : Event::reached_call;
    }
    if (auto* settled = std::get_if<StoredResponse>(&*outcome_)) {
        answer_ = std::move(*settled);
        return Event::reached_end;
    }
    answer_ = std::get<Answer>(std::move(*outcome_));
    return event_of_answer();
}

Attempt::Next Attempt::respond() {
    // Only if some operation waits. The notice may be needless after a rollback.
    if (facts_.id != 0 && operation_->settings.in_progress.wait.count() > 0)
        engine_.store().notify(hash_);
    if (const auto* refused = std::get_if<Rejection>(&answer_);
        refused != nullptr && !refused->detail.empty())
        log::limited_warning(
            "attempt_refused",
            std::string{operation_->name} + ": " + base::error_kind(refused->detail),
            {{"key_id", facts_.id},
             {"operation", operation_->name},
             {"attempt", facts_.number},
             {"point", facts_.at.stored},
             {"detail", refused->detail}}
        );
    engine_.in_flight_calls().end(facts_.id);
    end_trace();
    engine_.end_attempt(hash_, on_answer_, std::move(answer_));
    return std::nullopt;
}

}  // namespace pawl::engine
