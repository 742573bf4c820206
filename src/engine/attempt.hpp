#pragma once

#include <pawl/detail/rows.hpp>

#include "src/core/attempt_machine.hpp"
#include "src/engine/engine.hpp"
#include "src/engine/failure.hpp"
#include "src/engine/key_references.hpp"
#include "src/engine/timeline.hpp"

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace pawl::engine {

// One attempt at a key, from its claim to its response. It performs the actions of the machine in
// src/core/attempt_machine.hpp and reports their outcomes as events. Its callbacks (of the store,
// the timers and the call pool) run one at a time, so no member needs a lock.
//
// - attempt_driver.cpp: actions, lookups, waits, the response
// - attempt_claim.cpp: transaction 1: insert or take over, then phases up to a call or the end
// - attempt_settle.cpp: transaction 1 for what a person decided
// - attempt_call.cpp: the call, with no transaction open; the unlock; the attention list
// - attempt_inquire.cpp: what became of a call in doubt; a call that is made anew, perhaps
// elsewhere
// - attempt_keep.cpp: transaction 2: keep the result, then phases up to the next call or the end
// - attempt_steps.cpp: the phases and the row, for both transactions
class Attempt : public std::enable_shared_from_this<Attempt> {
public:
    // The key must have been entered into the InFlightKeys; the attempt's end removes it.
    Attempt(Engine& engine, KeyedRequest request, std::string hash, OnAnswer on_answer);
    // For a stored key: the completer's, or a settlement.
    Attempt(
        Engine& engine,
        const detail::ErasedOperation& operation,
        const KeyRow& row,
        OnAnswer on_answer
    );

    void claim() { on(begin()); }
    void take_over_stored() { on(Event::open_key); }
    void settle(const Settlement& settlement);
    // Runs in a transaction that the caller rolls back, without an entry in InFlightKeys. Throws
    // what the keeper or a phase throws.
    SettlePreview preview(store::Session& session, const Settlement& settlement);

private:
    using State = core::attempt::State;
    using Event = core::attempt::Event;
    using Action = core::attempt::Action;
    using Failed = const std::exception_ptr&;
    using Next = std::optional<Event>;  // nullopt: a callback reports it later.

    // The recovery point, in memory. `stored`: its name in the row, which may be an old one.
    struct Position {
        std::size_t step{};
        detail::ErasedValue point;
        std::string stored;
    };
    struct CallMark {
        std::string key;
        TimePoint called_at;
        bool ours{};           // Made by this attempt: no earlier call used this key.
        std::string target{};  // Who is called, if the operation names it.
        // A restore may have lost the record of a call with this key: called_at is in the lost
        // time.
        bool restored{};
        Repeat again{Repeat::safe_with_key};
        const Provider* provider{};  // Of a Routed call.
    };
    // An inquiry about the call of `mark`.
    struct Asking {
        // Of the call that it is about. facts_ may have the next one, whose begin failed.
        int generation{};
        // The first recorded inquiry about this call; nullopt: this one.
        std::optional<TimePoint> since;
        TimePoint now;  // Before the inquiry, by the database's clock.
        bool stuck{};
        std::string_view answer{};  // As stored; empty: none yet.
        std::string detail{};
    };
    // Proof that the call of `generation` was not made.
    struct NotMade {
        int generation{};
        Repeat again{};
        std::string target;
        std::string_view proof;
        std::string detail;
    };
    struct Facts {
        std::int64_t id{0};
        int number{1};  // The attempt's number: the fence.
        int generation{0};
        Position at;
        std::optional<CallMark> mark;
        core::Moment leased;  // Just before the lease was written to the row.
    };
    // The outcome of a transaction; it is valid only after the commit. Answer: nothing was run.
    // StoredResponse: the operation has ended.
    using Outcome = std::variant<Answer, StoredResponse, Position>;

    // Driver.
    void on(Event event);
    Next perform(Action action);
    Event begin();
    Event woken(Waiters::Woken woken);
    Next park();
    Next retry_later();
    using Found = Event (Attempt::*)(Failed, std::optional<KeyRow>&, TimePoint);
    template <class By>
    Next look_up(const By& by, Found found);
    Event found_key(Failed failed, std::optional<KeyRow>& found, TimePoint now);
    Event found_commit(Failed failed, std::optional<KeyRow>& found, TimePoint);
    Event found_holder(Failed failed, std::optional<KeyRow>& found, TimePoint);
    void learn(bool known);
    Event event_of_answer() const;
    Event event_of_failure(Failed failed);
    Event event_of_fence() const;
    static bool is_fenced(Failed failed);
    bool has_run() const;  // The transaction reached a call or the end.
    Event committed();
    Next respond();

    // A transaction: `run` in it, `done` after it.
    using Run = std::function<void(Attempt&, store::Session&)>;
    using Phases = Outcome (Attempt::*)(store::Session&);
    using Done = Event (Attempt::*)(Failed);
    Next write(Run run, Done done);
    Next commit(Phases run, Done done, const void* kind);
    // A write that needs the attempt's number and the point that it started from (F1, F2).
    template <class... A>
    void fence(store::Session& session, const Sql& statement, const A&... values) {
        const auto& f = facts_;
        detail::fence_statement(session, statement, f.id, f.number, f.at.stored, values...);
    }
    Event written(Failed) { return Event::written; }
    // For a phase or a keeper.
    detail::TxContext tx_context(store::Session& session);
    // Adds an event at the current point to the time line.
    void note(std::string_view what, TimelineEvent event = {});
    // Its place in a trace; nullptr: none.
    const core::TraceContext* trace() const {
        return request_.trace ? &request_.trace->here : nullptr;
    }
    void begin_trace();
    void join_trace(store::Session& session);
    void end_trace();
    void write_notes(store::Session& session) {
        timeline_.write(session, facts_.id, facts_.number);
        references_.write(session, facts_.id);
    }
    void note_and_write(store::Session& session, std::string_view what, TimelineEvent event) {
        note(what, std::move(event));
        write_notes(session);
    }
    std::string actor() const;

    // Claim.
    Next claim_if_room();
    Next commit_claim();
    Outcome run_claim(store::Session& session);
    Event claimed(Failed failed);
    Outcome re_execute(store::Session& session);
    bool key_is_locked(Failed failed) const;
    bool lost_id(Failed failed) const;
    Outcome run_fresh(store::Session& session, std::int64_t id, int generation);
    bool is_of_other_server(store::Session& session, const KeyRow& row);
    bool take_over(store::Session& session, const KeyRow& row);
    Outcome run_resumed(store::Session& session, const KeyRow& row);
    Outcome resume_at_call(store::Session& session, const KeyRow& row);
    // Moves the response out of a finished row. nullopt: the key may be run.
    std::optional<Answer> decide(std::optional<KeyRow>& found, TimePoint now);
    bool load_point(const KeyRow& row);
    Next record_failed_claim();
    void run_failed_claim(store::Session& session);

    // Settle.
    Outcome run_settlement(store::Session& session);
    Event settled(Failed failed);
    bool take_from_attention(store::Session& session, const KeyRow& row);
    detail::StepOutcome settled_move(store::Session& session, const Abandoned& why);
    void run_failed_settlement(store::Session& session);

    // Steps.
    Outcome advance_from(store::Session& session, Position from);
    Outcome advance(store::Session& session, std::size_t from, detail::StepOutcome moved);
    void write_first_notes(store::Session& session, const Position& at, const std::string& error);
    void insert_row(store::Session& session, Outcome& reached, const std::string& error);
    void move_row(store::Session& session, Outcome& reached);
    // no: a person confirmed that no call was made in the time that a restore has lost.
    enum class Lost { perhaps, no };
    void mark_call(TimePoint now, const Position& at, Lost lost = Lost::perhaps);
    Routing routing(const Position& at) const;
    const Provider* choose_provider(const Position& at) const;
    std::string call_target(const Position& at) const;
    void to_attention(store::Session& session);
    void log_if_listed();
    TimePoint lease_end(store::Session& session);
    std::optional<TimePoint> expiry(TimePoint now) const;

    // Call.
    Next make_call();
    Event call();
    ObservedStep observed_call(const core::TraceContext* span) const;
    base::Running running_call() const;
    TimelineEvent event_of_call(
        const detail::CallOutcome& ended,
        const std::string& error,
        const std::optional<ProviderResponse>& said
    ) const;
    Event called(const detail::CallOutcome& ended, const std::string& error, bool in_time);
    Event not_called(const std::string& error, Reason why);
    // The call of an earlier attempt, if one may have been made.
    std::optional<TimePoint> earlier_call() const;
    core::AfterCall after_call(core::CallEnded end) const;
    void refuse(Reason why, std::string error);
    void need_person(core::MustNotCall::Reason why, const KeyRow* row, const std::string& target);
    Repeat again() const { return facts_.mark ? facts_.mark->again : step().again; }
    std::chrono::milliseconds key_lifetime() const;
    std::optional<std::chrono::milliseconds> ask_after() const;
    CallKey call_key() const;  // As it is sent.
    Next unlock(const Sql& statement);
    Event unlocked(Failed failed);
    void run_hand_over(store::Session& session);
    Event handed_over(Failed failed);

    // Inquire.
    const Provider* stored_provider(const KeyRow& row) const;
    std::string target_today(const KeyRow& row, const Provider* provider) const;
    void load_refusals(store::Session& session, std::int64_t id);
    static std::optional<TimePoint> find_inquiry(store::Session& session, const KeyRow& row);
    bool may_inquire(core::MustNotCall::Reason why) const;
    bool has_inquiry() const;
    Next post_inquiry();
    Event inquire();
    Event inquired(const detail::InquiryOutcome& ended);
    void note_inquiry(store::Session& session);
    // Whether the router has a provider besides those that refused, or were not reached.
    bool has_other_provider();
    std::optional<Event> go_on_elsewhere(core::CallEnded ended, const std::string& text);
    Outcome run_begin_anew(store::Session& session);
    Event began_anew(Failed failed);
    void report_health(bool answered, const std::string& error);

    // Keep.
    Next commit_keep(core::KeepExtent extent);
    Outcome run_keep(store::Session& session);
    Outcome stop_before_phases(store::Session& session, const detail::ReachedPoint& reached);
    Event kept(Failed failed);
    void run_note_result(store::Session& session);
    Event noted(Failed failed);
    // A result that no keeper has recorded: stored, and loaded by the next attempt.
    void run_store_result(store::Session& session);
    Event result_stored(Failed failed);
    // The row's call has none, or it was loaded; stranded: this program can't decode it.
    enum class StoredResult { none, loaded, stranded };
    StoredResult load_result(store::Session& session, const KeyRow& row);

    const detail::ErasedStep& step() const { return operation_->steps[facts_.at.step]; }

    Engine& engine_;
    const detail::ErasedOperation* operation_;
    KeyedRequest request_;  // For a stored key: the content of its row.
    std::string hash_;
    OnAnswer on_answer_;  // Empty if the client was refused already and the attempt only keeps
                          // its result.
    std::optional<Settlement> settlement_;

    State state_{State::idle};
    Facts facts_;

    SeenKeys::Guess guess_{SeenKeys::Guess::is_known};           // Until a query or a commit.
    std::optional<PreallocatedIds::Preallocated> preallocated_;  // The id under which T1 claims.
    bool waits_for_id_{false};                                   // A claim under such an id failed.
    std::optional<KeyRow> seen_;  // The row as it was read before T1.
    std::optional<std::chrono::steady_clock::time_point> waits_until_;

    std::optional<Outcome> outcome_;
    std::optional<detail::CallResult> result_;  // Result of the call.
    bool result_was_stored_{false};             // By an earlier attempt.
    std::optional<Asking> asking_;              // The provider is asked instead of called.
    std::optional<NotMade> not_made_;
    std::vector<std::string> tried_;  // Targets that refused this call, or were not reached now.
    core::KeepExtent extent_{};       // Extent of the transaction that keeps the result.
    std::optional<CallMark> kept_mark_{};  // Of the call whose result it keeps.
    Answer answer_;            // The response, or the refusal if the current action fails.
    std::string_view reason_;  // For the attention list.
    std::string error_;        // For operators.
    Timeline timeline_;
    // Began its own span, which no request over HTTP and no job ends.
    std::optional<std::chrono::steady_clock::time_point> own_span_{};
    KeyReferences references_;  // Of the current transaction.
    bool staged_{false};        // The current transaction stages jobs.
    bool listed_{false};        // It puts the key on the attention list.
};

}  // namespace pawl::engine
