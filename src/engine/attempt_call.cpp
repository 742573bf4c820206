#include "src/base/error_text.hpp"
#include "src/core/fault.hpp"
#include "src/engine/attempt.hpp"
#include "src/engine/tx_factory.hpp"

#include <utility>

namespace pawl::engine {

namespace {

core::CallEnded ended_of(const detail::CallOutcome& end) {
    if (std::holds_alternative<Retry>(end)) return core::CallEnded::retry;
    if (std::holds_alternative<InDoubt>(end)) return core::CallEnded::in_doubt;
    if (std::holds_alternative<Stuck>(end)) return core::CallEnded::stuck;
    return core::CallEnded::result;
}

// For the time line: a call without a result.
std::string_view word_of(core::CallEnded ended) {
    if (ended == core::CallEnded::retry) return "not-made";
    return ended == core::CallEnded::stuck ? "stuck" : "in-doubt";
}

// For operators: a call without a result.
std::string text_of(const detail::CallOutcome& ended, const std::string& thrown) {
    if (const auto* retry = std::get_if<Retry>(&ended))
        return base::with_reason("this try did nothing at the provider", retry->why);
    if (const auto* stuck = std::get_if<Stuck>(&ended)) return stuck->why;
    const auto* doubt = std::get_if<InDoubt>(&ended);
    return base::with_reason(
        "the call may or may not have happened",
        doubt != nullptr && thrown.empty() ? doubt->why : thrown
    );
}

}  // namespace

Attempt::Next Attempt::make_call() {
    result_.reset();
    if (engine_.calls().post([self = shared_from_this()] { self->on(self->call()); }))
        return std::nullopt;
    return not_called(
        "no thread can be made for the call: is the process limited (ulimit, "
        "cgroup) to fewer than calls_max?",
        Reason::overloaded
    );
}

std::optional<TimePoint> Attempt::earlier_call() const {
    const auto& mark = facts_.mark;
    const bool perhaps = mark && (!mark->ours || mark->restored);
    return perhaps ? std::optional{mark->called_at} : std::nullopt;
}

core::AfterCall Attempt::after_call(core::CallEnded end) const {
    const auto earlier = earlier_call() ? core::EarlierCall::perhaps : core::EarlierCall::none;
    return core::decide_after_call(again(), end, earlier);
}

// On a thread of the call pool, with no transaction open and no connection held.
Attempt::Event Attempt::call() {
    if (engine_.calls().stop_token().stop_requested())
        return not_called("the service was stopping before the call", Reason::stopping);
    if (!core::may_still_call(facts_.leased, engine_.clock().moment(), engine_.options().lease))
        return not_called(
            "the call waited for half of its lease; more calls at once "
            "(calls_max) or a faster provider would help",
            Reason::overloaded
        );
    // The provider may have forgotten the key of an earlier attempt since transaction 1 (F7).
    const auto& mark = *facts_.mark;
    const auto rule = mark.ours && !mark.restored ? core::CallRule{core::MayCall{}}
                                                  : core::decide_call(
                                                        {.again = mark.again,
                                                         .called_at = mark.called_at,
                                                         .provider_key_lifetime = key_lifetime(),
                                                         .restored = mark.restored,
                                                         .routed = mark.provider != nullptr},
                                                        engine_.clock().now()
                                                    );
    if (const auto* stop = std::get_if<core::MustNotCall>(&rule)) {
        need_person(stop->why, nullptr, {});
        if (!may_inquire(stop->why)) return Event::needs_person;
        asking_ =
            Asking{.generation = facts_.generation, .since = {}, .now = engine_.clock().now()};
        return Event::ask;
    }
    engine_.count_call();

    engine_.in_flight_calls().begin(facts_.id);
    const auto lease =
        engine_.renewals().begin({facts_.id, facts_.number, facts_.at.stored}, facts_.leased);
    const auto span = engine_.span_under(trace());
    const auto* const its_span = span ? &*span : nullptr;
    detail::CallOutcome ended = InDoubt{};
    std::string error;
    std::optional<ProviderResponse> said;
    const auto began = engine_.clock().steady();
    try {
        PAWL_FAULT("engine.call.before");
        const auto make = [&](KeyedCall& call) {
            auto outcome = step().call(operation_->op.get(), call, facts_.at.point.get());
            said = call.response();
            return outcome;
        };
        const detail::TxFactory::CallContext context{
            engine_.calls().stop_token(), its_span, running_call(), [lease] {
                return lease->lasts();
            }};
        ended = mark.provider != nullptr
                    ? detail::TxFactory::with_routed_call(call_key(), *mark.provider, context, make)
                    : detail::TxFactory::with_call(call_key(), context, make);
        PAWL_FAULT("engine.call.after");
    } catch (const std::exception& thrown) {
        error = thrown.what();
    } catch (...) {
        error = "an exception that is not a std::exception";
    }
    const auto took = engine_.clock().steady() - began;
    auto event = event_of_call(ended, error, said);
    event.took_us = microseconds(took);
    if (auto* by = engine_.observer()) {
        auto observed = observed_call(its_span);
        observed.result = *event.result;
        observed.provider_status = event.status.value_or(0);
        by->on_call(observed, ended_of(ended), took);
    }
    engine_.renewals().end(facts_.id);
    note("called", std::move(event));
    timeline_.keep();
    return called(ended, error, lease->lasts());
}

TimelineEvent Attempt::event_of_call(
    const detail::CallOutcome& ended,
    const std::string& error,
    const std::optional<ProviderResponse>& said
) const {
    TimelineEvent event;
    if (!facts_.mark->target.empty()) event.to = facts_.mark->target;
    if (const auto* result = std::get_if<detail::CallResult>(&ended))
        event.result = step().results[result->result].name;
    else {
        event.result = word_of(ended_of(ended));
        event.detail = text_of(ended, error);
    }
    if (said) {
        event.status = said->status;
        if (!said->request_id.empty()) event.request_id = base::sanitized_error(said->request_id);
    }
    return event;
}

base::Running Attempt::running_call() const {
    auto running = engine_.running(base::RunningCode::Where::call, engine_.options().call_timeout);
    running.label.name = operation_->name;
    running.label.step = step().from;
    running.label.key_id = facts_.id;
    return running;
}

ObservedStep Attempt::observed_call(const core::TraceContext* span) const {
    const auto* const provider = facts_.mark->provider;
    return {
        .operation = *operation_,
        .step = facts_.at.step,
        .provider = provider != nullptr ? std::string_view{provider->name} : std::string_view{},
        .under = trace(),
        .span = span,
        .target = facts_.mark->target};
}

Attempt::Event Attempt::called(
    const detail::CallOutcome& ended, const std::string& error, bool in_time
) {
    const auto kind = ended_of(ended);
    if (kind == core::CallEnded::in_doubt) engine_.in_flight_calls().in_doubt(facts_.id);
    const auto text = kind == core::CallEnded::result ? std::string{} : text_of(ended, error);
    // A call that came too late after a pause of this server says nothing of its provider.
    if (in_time)
        report_health(kind == core::CallEnded::result || kind == core::CallEnded::stuck, text);
    if (const auto* result = std::get_if<detail::CallResult>(&ended)) result_ = *result;
    if (auto next = go_on_elsewhere(kind, text)) return *next;
    if (kind != core::CallEnded::result)
        refuse(Reason::provider_unavailable, base::with_earlier_call(text, earlier_call()));
    reason_ = kind == core::CallEnded::stuck ? "stuck" : "in-doubt";
    const auto event = core::attempt::event_of(after_call(kind));
    if (event != Event::needs_person || !has_inquiry()) return event;
    asking_ = Asking{
        .generation = facts_.generation,
        .since = {},
        .now = engine_.clock().now(),
        .stuck = kind == core::CallEnded::stuck};
    return Event::ask;
}

Attempt::Event Attempt::not_called(const std::string& error, Reason why) {
    refuse(why, base::with_earlier_call(error, earlier_call()));
    return core::attempt::event_of(after_call(core::CallEnded::retry));
}

void Attempt::refuse(Reason why, std::string error) {
    error_ = std::move(error);
    answer_ = Rejection{.reason = why, .detail = error_};
}

// Why a call that may have been made is not repeated, for the attention list.
void Attempt::need_person(
    core::MustNotCall::Reason why, const KeyRow* row, const std::string& target
) {
    using Stop = core::MustNotCall::Reason;
    const auto say = [&](std::string_view reason, const std::string& text) {
        reason_ = reason;
        error_ = base::with_earlier_call(text, row != nullptr ? row->called_at : earlier_call());
    };
    switch (why) {
        case Stop::forgotten:
            return say("forgotten", "the provider may have forgotten its key");
        case Stop::elsewhere:
            return say(
                "elsewhere",
                "PAWL0018: it went to \"" + row->call_target.value_or("") +
                    "\", and this server calls \"" + target + "\""
            );
        case Stop::restored:
            return say(
                "restored",
                "the database was restored from a backup, and the request may have been carried "
                "out in the time that was lost: look at each provider of this operation, not "
                "only at the one that is chosen now"
            );
        case Stop::unanswered:
            return say("unanswered", "the provider has not answered for long");
        case Stop::in_doubt:
            return say("in-doubt", "this call is never repeated");
    }
}

// The fenced unlock (F3): the next attempt goes on from the same point.
Attempt::Next Attempt::unlock(const Sql& statement) {
    PAWL_FAULT("engine.release_key.before");
    return write(
        [&statement](Attempt& self, store::Session& session) {
            self.note_and_write(session, "released", {.detail = self.error_});
            self.fence(session, statement, base::sanitized_error(self.error_), session.now());
            self.note_inquiry(session);
        },
        &Attempt::unlocked
    );
}

// A keeper may have failed because another attempt has kept the same result: then the unlock is
// fenced. If it failed otherwise, the client's retry waits for the end of the lease.
Attempt::Event Attempt::unlocked(Failed failed) {
    return is_fenced(failed) ? Event::fenced : Event::written;
}

void Attempt::run_hand_over(store::Session& session) {
    to_attention(session);
    note_inquiry(session);
}

// Without a result no second try is needed: the row has the mark of the call, so the next attempt
// hands the key over as well.
Attempt::Event Attempt::handed_over(Failed failed) {
    if (is_fenced(failed)) return event_of_fence();
    if (failed) return event_of_failure(failed);
    log_if_listed();
    answer_ = Rejection{.reason = Reason::needs_attention};
    return Event::written;
}

}  // namespace pawl::engine
