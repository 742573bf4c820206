#pragma once

#include "src/core/call_rule.hpp"
#include "src/engine/engine.hpp"
#include "src/engine/rejection.hpp"

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace pawl::engine {

// One attempt at a key, from its claim to its answer. It lives in the callbacks of the store and
// the call pool, one at a time, so no member needs a lock.
//
// - attempt_claim.cpp, T1: insert or take over, then atomic phases up to a foreign call or the end
// - attempt_wait.cpp: waiting, where another process has the key (wait(max))
// - attempt_call.cpp: the call, with no transaction open
// - attempt_keep.cpp, T2: keep its result, then atomic phases up to the next call or the end
// - attempt_steps.cpp: the phases and the row, of both
// - attempt_settle.cpp: what a person decided, as a take-over
class Attempt : public std::enable_shared_from_this<Attempt> {
public:
    // The key must have been entered into the LiveKeys; the attempt's end leaves it.
    Attempt(
        Engine& engine,
        KeyedRequest request,
        KeyIdentity identity,
        std::string hash,
        OnAnswer on_answer
    );
    // For a stored key: the completer's, or a settlement.
    Attempt(
        Engine& engine,
        const detail::OperationForm& operation,
        const KeyRow& row,
        OnAnswer on_answer
    );

    void claim();             // Reads, decides, writes T1.
    void take_over_stored();  // T1 for a stored key.
    void settle(const Settlement& settlement);
    // In a transaction that its caller rolls back; no LiveKeys are entered. Throws what the keeper
    // or a phase throws.
    SettlePreview preview(store::Session& session, const Settlement& settlement);

private:
    // Where the key stands, in memory; `stored` is the name that the row has (it may be an old
    // one).
    struct Position {
        std::size_t step{};
        detail::Anything point;
        std::string stored;
    };
    struct CallMark {
        std::string key;
        TimePoint called_at;
        bool ours{};           // Made by this attempt: nobody can have called under it before.
        std::string target{};  // Who is called, if the operation names it.
        // A restore may have lost the record of a call under it: called_at lies in the lost time.
        bool restored{};
    };
    // A fence touched no row: the store has rolled back, and one looks once.
    static bool is_lost_lease(const std::exception_ptr& failed);
    using Progress = std::variant<Response, Position>;

    // run_* are in a transaction, on_* after it. What run_* finds out stands in verdict_ or
    // reached_ and counts only once the commit is durable.

    // Claim.
    void look(std::function<void()> if_new);
    void learn(bool known);
    void claim_new();
    void write_first();
    void run_first(store::Session& session);
    void on_first(std::exception_ptr failed);
    bool lost_claim(const std::exception_ptr& failed) const;
    bool met_a_holder(const std::exception_ptr& failed) const;
    void on_locked();
    void claim_anew();
    void on_failed_claim(Failure failure);
    void end_claim(Answer answer);
    void run_fresh(store::Session& session, std::int64_t id, int generation);
    bool take_over(store::Session& session, const KeyRow& row);
    void run_resumed(store::Session& session, const KeyRow& row);
    void resume_at_call(store::Session& session, const KeyRow& row);
    // Takes the response out of a finished row.
    std::optional<Answer> decide(std::optional<KeyRow>& found, TimePoint now);
    bool same_request(const KeyRow& row) const;
    bool load_point(const KeyRow& row);
    void look_after_doubt(const Rejection& refusal);
    void record_failed_claim(const std::string& error);
    void run_failed_claim(store::Session& session, const std::string& error);

    // Wait.
    void wait_or_refuse();
    void on_woken(Waiters::Woken woken);

    // Steps.
    Progress advance_from(store::Session& session, Position from);
    Progress advance(store::Session& session, std::size_t from, detail::Moved moved);
    void insert_row(store::Session& session, const Progress& reached, const std::string& error);
    void move_row(store::Session& session, const Progress& reached);
    // A person has said that no call was made in the time that a restore has lost.
    enum class Lost { perhaps, no };
    void mark_call(TimePoint now, const Position& at, Lost lost = Lost::perhaps);
    std::string call_target(const Position& at) const;
    void to_attention(store::Session& session, std::string_view reason, const std::string& detail);
    TimePoint lease_end(store::Session& session);
    core::Moment moment() const;
    std::optional<TimePoint> expiry(TimePoint now) const;

    // Call.
    void go_on();  // After a commit: answers, or makes the call that follows.
    void call();
    void on_called(detail::CallEnd end, const std::string& error);
    // The call of an earlier attempt, if one may have been made.
    std::optional<TimePoint> earlier_call() const;
    core::AfterCall after_call(core::CallEnded end) const;
    void give_back(core::AfterCall after, const std::string& error, Rejection refusal);
    void give_back_uncalled(const std::string& error, Reason why);
    void run_give_back(store::Session& session, core::AfterCall after, const std::string& error);
    void hand_to_person(
        std::string_view reason,
        const std::string& detail,
        const std::optional<detail::Arrival>& result
    );

    // Keep.
    // What the transaction of a result does. Alone: the keeper, without the phases behind it, one
    // of which may have failed, as `error` says.
    struct KeepPlan {
        core::KeepExtent extent{core::KeepExtent::with_phases};
        std::string error{};
    };
    void keep(detail::Arrival arrival, KeepPlan plan);
    void run_keep(store::Session& session, const detail::Arrival& arrival, const KeepPlan& plan);
    void on_kept(
        const detail::Arrival& arrival, const KeepPlan& plan, const std::exception_ptr& failed
    );
    void on_failed_keep(const detail::Arrival& arrival, const KeepPlan& plan, Failure failure);
    void try_later(Rejection refusal, std::function<void()> again);
    void lost_lease(const std::optional<detail::Arrival>& arrival);
    void keep_for_person(store::Session& session, const detail::Arrival& arrival);
    void look_once();

    // Settle.
    void run_settlement(store::Session& session, const Settlement& settlement);
    detail::Moved settled_move(
        store::Session& session, const Settlement& settlement, const Abandoned& why
    );
    void record_settling_error(const Settlement& settlement, const std::string& error);

    void end(Answer answer);
    const detail::StepForm& step() const { return operation_->steps[at_.step]; }

    Engine& engine_;
    const detail::OperationForm* operation_;
    KeyedRequest request_;  // Of a stored key: what its row says.
    KeyIdentity identity_;
    std::string hash_;
    OnAnswer on_answer_;  // Emptied when the client has its answer and the attempt goes on for the
                          // result's sake.

    std::int64_t id_{0};
    int number_{1};  // The attempt's number: the fence.
    int generation_{0};
    Position at_;
    std::optional<CallMark> mark_;
    core::Moment leased_;  // Before the lease that stands in the row was written.

    std::optional<std::chrono::steady_clock::time_point>
        waits_until_;  // Set where another process was found to have the key.

    using Guess = KeyCache::Guess;
    Guess guess_{Guess::is_known};  // From the claim until it is known better.
    std::optional<PreallocatedIds::Preallocated> ahead_;  // The id under which T1 claims.
    bool waits_for_id_{false};                            // A claim under such an id was lost.
    bool looked_{false};             // A row, if there was one, is or was seen_.
    std::optional<KeyRow> seen_;     // The row as it was read before T1.
    std::optional<Answer> verdict_;  // There is nothing to run: this is the answer.
    std::optional<Progress> reached_;
    std::optional<TimePoint>
        expires_at_;      // Of the answer, as the row says: repeats are told the same.
    bool staged_{false};  // Jobs, in the transaction at hand.
};

}  // namespace pawl::engine
