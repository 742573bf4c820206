#include "src/base/error_text.hpp"
#include "src/core/fault.hpp"
#include "src/engine/attempt.hpp"
#include "src/engine/router_impl.hpp"
#include "src/engine/tx_factory.hpp"
#include "store/statements.hpp"

#include <utility>

namespace pawl::engine {

using detail::read_row;
using detail::read_rows;
using detail::send_statement;

namespace {

core::InquiryEnded kind_of(const detail::InquiryOutcome& ended) {
    if (std::holds_alternative<NotFound>(ended)) return core::InquiryEnded::not_found;
    if (std::holds_alternative<detail::CallResult>(ended)) return core::InquiryEnded::found;
    return core::InquiryEnded::undecided;
}

// As stored in pawl_inquiries.
std::string_view word_of(core::InquiryEnded ended) {
    constexpr std::string_view words[] = {"found", "not-found", "undecided"};
    return words[std::size_t(ended)];
}

// For operators.
std::string text_of(const detail::InquiryOutcome& ended) {
    if (const auto* none = std::get_if<NotFound>(&ended)) {
        const auto final =
            none->final_after ? ", final after " + std::to_string(none->final_after->count()) + " s"
                              : std::string{", which is never final"};
        return base::with_reason("the provider does not know the call" + final, none->why);
    }
    if (const auto* undecided = std::get_if<Undecided>(&ended))
        return base::with_reason("the provider's answer decides nothing", undecided->why);
    if (const auto* other = std::get_if<Stuck>(&ended))
        return base::with_reason("the provider knows another thing than the call", other->why);
    return "the provider knows the call";
}

std::optional<std::chrono::milliseconds> final_after(const detail::InquiryOutcome& ended) {
    const auto* none = std::get_if<NotFound>(&ended);
    return none != nullptr ? none->final_after : std::nullopt;
}

}  // namespace

// nullptr: the call is not Routed, or the router does not have the provider any more.
const Provider* Attempt::stored_provider(const KeyRow& row) const {
    if (step().route == nullptr || !row.call_target) return nullptr;
    return routing(facts_.at).router.impl().find(*row.call_target);
}

std::string Attempt::target_today(const KeyRow& row, const Provider* provider) const {
    if (step().route == nullptr) return call_target(facts_.at);
    if (provider != nullptr || !row.call_target) return row.call_target.value_or("");
    return "no provider of that name and account";
}

void Attempt::load_refusals(store::Session& session, std::int64_t id) {
    tried_.clear();
    if (step().route == nullptr) return;
    const auto name = [](const detail::Row& row) { return std::string{row.text(0)}; };
    tried_ = read_rows(session, sql::find_refusals, name, id, facts_.at.stored);
}

std::chrono::milliseconds Attempt::key_lifetime() const {
    const auto* const provider = facts_.mark ? facts_.mark->provider : nullptr;
    return provider != nullptr ? provider->key_lifetime
                               : operation_->settings.provider_key_lifetime;
}

std::optional<std::chrono::milliseconds> Attempt::ask_after() const {
    const auto* const provider = facts_.mark->provider;
    if (provider == nullptr || !has_inquiry()) return std::nullopt;
    return provider->ask_after;
}

CallKey Attempt::call_key() const {
    CallKey key{facts_.mark->key};
    if (const auto* provider = facts_.mark->provider) key.text.resize(provider->key_digits);
    return key;
}

bool Attempt::may_inquire(core::MustNotCall::Reason why) const {
    // In the time that a restore has lost, another provider may have been called.
    const bool elsewhere_too =
        step().route != nullptr && why == core::MustNotCall::Reason::restored;
    return has_inquiry() && core::may_inquire(why) && !elsewhere_too;
}

bool Attempt::has_inquiry() const {
    if (step().inquire == nullptr) return false;
    const auto* const provider = facts_.mark->provider;
    return step().route == nullptr || (provider != nullptr && provider->has_inquiry);
}

std::optional<TimePoint> Attempt::find_inquiry(store::Session& session, const KeyRow& row) {
    const auto since = [](const detail::Row& found) {
        return detail::column_as<TimePoint>(found, 0, sql::find_inquiry.name);
    };
    return read_row(session, sql::find_inquiry, since, row.id, row.generation, row.recovery_point);
}

Attempt::Next Attempt::post_inquiry() {
    if (engine_.calls().post([self = shared_from_this()] { self->on(self->inquire()); }))
        return std::nullopt;
    refuse(Reason::overloaded, "no thread can be made for the inquiry; " + error_);
    return Event::try_again;
}

// On a thread of the call pool, with no transaction open.
Attempt::Event Attempt::inquire() {
    if (engine_.calls().stop_token().stop_requested()) {
        refuse(Reason::stopping, "the service was stopping before the inquiry; " + error_);
        return Event::try_again;
    }
    const auto& mark = *facts_.mark;
    engine_.renewals().begin({facts_.id, facts_.number, facts_.at.stored}, facts_.leased);
    const auto span = engine_.span_under(trace());
    const auto* const its_span = span ? &*span : nullptr;
    std::optional<ProviderResponse> said;
    detail::InquiryOutcome ended = Undecided{};
    const auto began = engine_.clock().steady();
    try {
        PAWL_FAULT("engine.inquiry.before");
        ended = detail::TxFactory::with_inquiry(
            call_key(),
            mark.called_at,
            mark.provider,
            {engine_.calls().stop_token(), its_span, running_call()},
            [&](InquiryCall& call) {
                auto outcome = step().inquire(operation_->op.get(), call, facts_.at.point.get());
                said = call.response();
                return outcome;
            }
        );
        PAWL_FAULT("engine.inquiry.after");
    } catch (const std::exception& thrown) {
        ended = Undecided{thrown.what()};
    } catch (...) {
        ended = Undecided{"an exception that is not a std::exception"};
    }
    const auto took = engine_.clock().steady() - began;
    if (auto* by = engine_.observer()) {
        auto observed = observed_call(its_span);
        observed.result = word_of(kind_of(ended));
        observed.provider_status = said ? said->status : 0;
        by->on_inquiry(observed, kind_of(ended), took);
    }
    engine_.renewals().end(facts_.id);
    TimelineEvent event{
        .result = std::string{word_of(kind_of(ended))}, .took_us = microseconds(took)};
    if (!mark.target.empty()) event.to = mark.target;
    if (auto text = text_of(ended); !text.empty()) event.detail = std::move(text);
    note("inquired", std::move(event));
    timeline_.keep();
    return inquired(ended);
}

Attempt::Event Attempt::inquired(const detail::InquiryOutcome& ended) {
    const auto kind = kind_of(ended);
    const auto text = text_of(ended);
    const bool is_stuck = std::holds_alternative<Stuck>(ended);
    report_health(is_stuck || kind != core::InquiryEnded::undecided, text);
    asking_->answer = word_of(kind);
    asking_->detail = text;
    if (is_stuck) {
        error_ += "; " + text;
        return Event::needs_person;
    }
    switch (core::decide_after_inquiry(
        {.ended = kind,
         .final_after = final_after(ended),
         .asking_since = asking_->since,
         .ask_for = operation_->settings.ask_for,
         .stuck = asking_->stuck},
        asking_->now
    )) {
        case core::AfterInquiry::keep:
            result_ = std::get<detail::CallResult>(ended);
            return Event::result;
        case core::AfterInquiry::call_anew:
            not_made_ = NotMade{facts_.generation, again(), facts_.mark->target, "not-found", text};
            return Event::call_anew;
        case core::AfterInquiry::ask_later:
            refuse(Reason::provider_unavailable, error_ + "; " + text);
            return Event::ask_later;
        case core::AfterInquiry::needs_person:
            break;
    }
    error_ += "; " + text;
    return Event::needs_person;
}

// In the transaction that ends the inquiry.
void Attempt::note_inquiry(store::Session& session) {
    if (!asking_ || asking_->answer.empty()) return;
    send_statement(
        session,
        sql::note_inquiry,
        facts_.id,
        asking_->generation,
        facts_.at.stored,
        session.now(),
        asking_->answer,
        base::sanitized_error(asking_->detail)
    );
}

bool Attempt::has_other_provider() {
    const auto among = routing(facts_.at);
    return among.router.impl().has_other(among.payment, tried_);
}

// After a refusal, or a call that was not made: whether the next provider may be called, and must
// be waited for. nullopt: the end of the call stands.
std::optional<Attempt::Event> Attempt::go_on_elsewhere(
    core::CallEnded ended, const std::string& text
) {
    const auto* const provider = facts_.mark->provider;
    if (provider == nullptr) return std::nullopt;
    const bool refused = result_ && result_->try_next;
    if (!refused && ended != core::CallEnded::retry) return std::nullopt;
    const auto earlier = earlier_call() ? core::EarlierCall::perhaps : core::EarlierCall::none;
    const bool remembers = refused && provider->remembers_refusals;
    const auto refusals = remembers ? core::Refusals::remembered : core::Refusals::forgotten;
    if (!core::refusal_is_proof(refusals, earlier)) {
        if (!refused) return std::nullopt;
        result_.reset();
        refuse(
            Reason::provider_unavailable,
            base::with_earlier_call(
                "the provider refused, but an earlier try may still arrive", earlier_call()
            )
        );
        return Event::try_again;
    }
    tried_.push_back(provider->target());
    if (!has_other_provider()) return std::nullopt;
    not_made_ = NotMade{
        facts_.generation,
        again(),
        facts_.mark->target,
        refused ? "refused" : "not-sent",
        refused ? std::string{step().results[result_->result].name} : text};
    result_.reset();
    return Event::call_anew;
}

// The next generation has its own call key. Its provider is chosen here, before the call.
Attempt::Outcome Attempt::run_begin_anew(store::Session& session) {
    const auto now = session.now();
    note_inquiry(session);
    facts_.generation = not_made_->generation + 1;
    mark_call(now, facts_.at, step().route == nullptr ? Lost::no : Lost::perhaps);
    fence(
        session,
        sql::call_anew,
        not_made_->generation,
        facts_.mark->key,
        now,
        facts_.mark->again == Repeat::never,
        facts_.mark->target.empty() ? std::optional<std::string>{} : facts_.mark->target,
        lease_end(session)
    );
    send_statement(
        session,
        sql::insert_call_not_made,
        facts_.id,
        not_made_->generation,
        facts_.at.stored,
        not_made_->target.empty() ? std::optional<std::string>{} : not_made_->target,
        not_made_->proof,
        base::sanitized_error(not_made_->detail),
        now
    );
    note_and_write(
        session, "call-anew", {.result = std::string{not_made_->proof}, .detail = not_made_->detail}
    );
    return facts_.at;
}

Attempt::Event Attempt::began_anew(Failed failed) {
    if (!failed) {
        PAWL_FAULT("engine.begin_anew.after");
        asking_.reset();
        return committed();
    }
    if (is_fenced(failed)) return event_of_fence();
    const auto event = event_of_failure(failed);
    const auto& cause = std::get<Rejection>(answer_);
    const auto text = not_made_->detail + "; the next call could not be begun: " + cause.detail;
    refuse(cause.reason, text);
    return core::attempt::event_of(core::decide_after_failed_begin(
        not_made_->again,
        event == Event::transient ? core::KeepFailure::transient : core::KeepFailure::defect
    ));
}

void Attempt::report_health(bool answered, const std::string& error) {
    const auto& mark = *facts_.mark;
    if (mark.provider == nullptr)
        return engine_.call_ended(
            {answered, mark.target, operation_->name, facts_.at.stored}, error
        );
    const auto change = routing(facts_.at).router.impl().ended(
        *mark.provider,
        {.answered = answered,
         .error = error,
         .now = engine_.clock().steady(),
         .at = engine_.clock().now(),
         .dice = engine_.random().dice()}
    );
    engine_.log_provider(change, {.target = mark.target}, error);
}

}  // namespace pawl::engine
