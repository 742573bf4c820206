#include <pawl/detail/rows.hpp>

#include "src/base/error_text.hpp"
#include "src/base/log.hpp"
#include "src/core/fault.hpp"
#include "src/engine/attempt.hpp"
#include "src/engine/rejection.hpp"
#include "src/engine/tx_factory.hpp"
#include "store/statements.hpp"

#include <utility>

namespace pawl::engine {

using detail::fence_statement;

namespace {

core::CallEnded ended_of(const detail::CallEnd& end) {
    struct Kind {
        core::CallEnded operator()(const Retry&) const { return core::CallEnded::retry; }
        core::CallEnded operator()(const InDoubt&) const { return core::CallEnded::in_doubt; }
        core::CallEnded operator()(const Stuck&) const { return core::CallEnded::stuck; }
        core::CallEnded operator()(const detail::Arrival&) const { return core::CallEnded::result; }
    };
    return std::visit(Kind{}, end);
}

constexpr const char* restored_text =
    "the database was restored from a backup, and the request may have been carried out in the "
    "time that was lost: look at the provider";

// What an operator reads of a call without a result.
std::string text_of(const detail::CallEnd& ended, const std::string& thrown) {
    auto because = [](std::string text, const std::string& why) {
        return why.empty() ? text : std::move(text) + ": " + why;
    };
    if (const auto* retry = std::get_if<Retry>(&ended))
        return because("this try did nothing at the provider", retry->why);
    if (const auto* stuck = std::get_if<Stuck>(&ended)) return stuck->why;
    const auto* doubt = std::get_if<InDoubt>(&ended);
    return because(
        "the call may or may not have happened",
        doubt != nullptr && thrown.empty() ? doubt->why : thrown
    );
}

}  // namespace

void Attempt::go_on() {
    if (std::exchange(staged_, false)) engine_.staged();
    if (auto* response = std::get_if<Response>(&*reached_))
        return end(StoredResponse{std::move(*response), false, expires_at_});
    at_ = std::move(std::get<Position>(*reached_));
    engine_.at_work(hash_);
    if (engine_.calls().post([self = shared_from_this()] { self->call(); })) return;
    const std::string why =
        "no thread can be made for the call: is the process limited (ulimit, "
        "cgroup) to fewer than calls_max?";
    give_back_uncalled(why, Reason::overloaded);
}

std::optional<TimePoint> Attempt::earlier_call() const {
    const bool perhaps = mark_ && (!mark_->ours || mark_->restored);
    return perhaps ? std::optional{mark_->called_at} : std::nullopt;
}

core::AfterCall Attempt::after_call(core::CallEnded end) const {
    const auto earlier = earlier_call() ? core::EarlierCall::perhaps : core::EarlierCall::none;
    return core::decide_after_call(step().again, end, earlier);
}

// On a thread of the call pool, with no transaction open and no connection held.
void Attempt::call() {
    if (engine_.calls().stop_token().stop_requested())
        return give_back_uncalled("the service was stopping before the call", Reason::stopping);
    if (!core::may_still_call(leased_, moment(), engine_.options().lease))
        return give_back_uncalled(
            "the call waited for half of its lease; more calls at once "
            "(calls_max) or a faster provider would help",
            Reason::overloaded
        );
    // The provider may have forgotten the key of an earlier attempt since T1 looked (F7).
    const auto rule = mark_->ours && !mark_->restored
                          ? core::CallRule{core::MayCall{}}
                          : core::decide_call(
                                {.again = step().again,
                                 .called_at = mark_->called_at,
                                 .provider_memory = operation_->provider_memory,
                                 .restored = mark_->restored},
                                engine_.clock().now()
                            );
    if (const auto* stop = std::get_if<core::MustNotCall>(&rule))
        return stop->why == core::MustNotCall::Reason::restored
                   ? hand_to_person("restored", restored_text, std::nullopt)
                   : hand_to_person(
                         "forgotten", "the provider may have forgotten its key", std::nullopt
                     );
    engine_.count_call();

    engine_.doubts().begin(id_);
    const auto renewal = engine_.renewals().begin({id_, number_, at_.stored}, leased_.steady);
    detail::CallEnd ended = InDoubt{};
    std::string error;
    try {
        PAWL_FAULT("engine.call.before");
        ended = detail::TxFactory::with_call(
            ForeignKey{mark_->key},
            engine_.calls().stop_token(),
            [this](KeyedCall& call) {
                return step().call(operation_->op.get(), call, at_.point.get());
            }
        );
        PAWL_FAULT("engine.call.after");
    } catch (const std::exception& thrown) {
        error = thrown.what();
    } catch (...) {
        error = "an exception that is no std::exception";
    }
    engine_.renewals().end(renewal);
    on_called(std::move(ended), error);
}

void Attempt::on_called(detail::CallEnd ended, const std::string& error) {
    // From now on it may be answered by what the store keeps, even if this attempt is told nothing.
    engine_.at_work(hash_, false);
    const auto kind = ended_of(ended);
    const auto text = text_of(ended, error);
    if (kind == core::CallEnded::in_doubt) engine_.doubts().in_doubt(id_);
    const auto after = after_call(kind);
    switch (after) {
        case core::AfterCall::keep:
            return keep(std::get<detail::Arrival>(std::move(ended)), {});
        case core::AfterCall::clear_mark:
        case core::AfterCall::try_again:
            return give_back(after, text, Rejection{.why = Reason::provider_unavailable});
        case core::AfterCall::needs_person:
            return hand_to_person(
                kind == core::CallEnded::stuck ? "stuck" : "in-doubt", text, std::nullopt
            );
    }
}

// The fenced unlock (F3): whoever comes next goes on from the same point.
void Attempt::give_back(core::AfterCall after, const std::string& error, Rejection refusal) {
    auto self = shared_from_this();
    const auto text = base::with_earlier_call(error, earlier_call());
    refusal.detail = text;
    PAWL_FAULT("engine.give_back.before");
    engine_.store().write(store::work(
        [self, after, text](store::Session& session) { self->run_give_back(session, after, text); },
        [self, refusal = std::move(refusal)](const std::exception_ptr& failed) {
            if (is_lost_lease(failed)) return self->lost_lease(std::nullopt);
            // Written or not, the client tries again: at the worst it waits for the end of the
            // lease.
            self->end(refusal);
        }
    ));
}

void Attempt::give_back_uncalled(const std::string& error, Reason why) {
    give_back(after_call(core::CallEnded::retry), error, Rejection{.why = why});
}

// A keeper may also fail because another attempt has kept the same result: the fence says so here.
void Attempt::run_give_back(
    store::Session& session, core::AfterCall after, const std::string& error
) {
    const auto& statement =
        after == core::AfterCall::clear_mark ? sql::clear_calling : sql::fail_attempt;
    fence_statement(
        session, statement, id_, number_, at_.stored, base::storable_error(error), session.now()
    );
}

bool Attempt::is_lost_lease(const std::exception_ptr& failed) {
    return store::is_store_error(failed, StoreError::Kind::fenced);
}

void Attempt::hand_to_person(
    std::string_view reason, const std::string& detail, const std::optional<detail::Arrival>& result
) {
    auto self = shared_from_this();
    engine_.store().write(store::work(
        [self, reason, detail, result](store::Session& session) {
            self->to_attention(
                session, reason, base::with_earlier_call(detail, self->earlier_call())
            );
            if (result) self->keep_for_person(session, *result);
        },
        [self, reason, detail, result](const std::exception_ptr& failed) {
            if (!failed) return self->end(Rejection{.why = Reason::needs_attention});
            if (is_lost_lease(failed)) return self->lost_lease(result);
            auto failure = failure_of(failed);
            // Without a result: the mark of the call stands in the row, the next attempt comes to
            // the same end.
            if (!result || !failure.passing) return self->end(std::move(failure.refusal));
            self->try_later(std::move(failure.refusal), [self, reason, detail, result] {
                self->hand_to_person(reason, detail, result);
            });
        }
    ));
}

void Attempt::end(Answer answer) {
    // Where nobody can wait, nobody is told. Of what was undone after all: a needless one.
    if (id_ != 0 && operation_->in_progress.wait.count() > 0) engine_.store().notify(hash_);
    if (const auto* refused = std::get_if<Rejection>(&answer);
        refused != nullptr && !refused->detail.empty())
        log::warning(
            "attempt_refused",
            {{"key_id", std::to_string(id_)},
             {"operation", std::string{operation_->name}},
             {"attempt", std::to_string(number_)},
             {"point", at_.stored},
             {"detail", refused->detail}}
        );
    engine_.doubts().end(id_);
    engine_.leave(hash_, on_answer_, std::move(answer));
}

}  // namespace pawl::engine
