#pragma once

#include <pawl/detail/erased_operation.hpp>

#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/base/timers.hpp"
#include "src/core/restore_gap.hpp"
#include "src/engine/answer.hpp"
#include "src/engine/call_pool.hpp"
#include "src/engine/in_flight_calls.hpp"
#include "src/engine/in_flight_keys.hpp"
#include "src/engine/installation.hpp"
#include "src/engine/key_row.hpp"
#include "src/engine/observer.hpp"
#include "src/engine/options.hpp"
#include "src/engine/preallocated_ids.hpp"
#include "src/engine/provider_watch.hpp"
#include "src/engine/renewals.hpp"
#include "src/engine/routers.hpp"
#include "src/engine/seen_keys.hpp"
#include "src/engine/tx_factory.hpp"
#include "src/engine/waiters.hpp"
#include "src/store/store.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pawl::engine {

class Attempt;

// A request from HTTP: authenticated, parsed and validated by problem(); nothing is stored yet.
struct KeyedRequest {
    const detail::ErasedOperation* operation{};
    Principal principal;
    std::string key;
    std::string method;
    std::string path;
    std::string origin;
    std::string request_id{};  // X-Request-Id; empty: no client's request caused it.
    bool of_a_job{false};      // A phase has staged it: before_key() is not called.
    detail::ErasedValue request;
    std::string params{};     // The request as JSON; empty: made when it is stored.
    std::string fingerprint;  // Hex, under the newest secret.
    // What the fingerprint is an HMAC of, for keys that were stored under an older secret; empty in
    // a request that was made from the stored key, and has its fingerprint.
    std::string fingerprint_text{};
    TracePtr trace{};  // nullptr: it is in no trace.
};

// Sets both, under the installation's newest secret.
void set_fingerprint(KeyedRequest& request, std::string text, const Installation& installation);

// Whether the key was made for this request. nullopt: this server lacks the secret of the key's
// fingerprint, and logs that.
std::optional<bool> same_request(
    const Installation& installation, const KeyedRequest& request, const KeyRow& row
);
// What the claim comes to, of the row that was found; moves the response out of it. nullopt: the
// key may be run.
std::optional<Answer> answer_of(const core::Claim& claim, std::optional<KeyRow>& found);

// An operator's decision about a key on the attention list.
struct Settlement {
    std::int64_t key_id{};
    int attempt{};
    std::string recovery_point{};
    enum class Kind { happened, did_not_happen, give_up } kind{};
    std::string result_name{};  // happened: a named result of the call, with its value as JSON.
    std::string result{};
    std::string by{};
    // The row's value; fences a recorded decision.
    std::optional<std::string> decided_at{};
};

// What a settlement would do.
struct SettlePreview {
    std::optional<Response> answer{};  // The client's response; nullopt: a call is made first.
    std::string call_from{};           // The recovery point that the call is made from.
    std::string error{};               // Why it can't be carried out; then the others are empty.
};

// Drives keys: claim, steps, response. Owns the call pool and the timers. Thread-safe.
class Engine {
public:
    struct Parts {
        store::Store& store;  // These outlive the engine.
        base::Clock& clock;
        base::Random& random;
        // nullptr: the engine makes its own.
        base::Timers* timers{nullptr};
        Calls* calls{nullptr};
    };
    Engine(Parts parts, EngineOptions options, Installation installation);
    ~Engine();  // Waits for what is in flight, however long its calls take.

    // Call before any request.
    const detail::ErasedOperation& add(detail::ErasedOperation form);
    const detail::ErasedOperation* find(std::string_view operation) const;
    // Whether a stored key can go on here. If not, it is stranded (PAWL0007).
    bool knows_point(std::string_view operation, std::string_view point) const;
    std::vector<const detail::ErasedOperation*> operations() const;  // By name.
    // For a request without a key, so that it is still completed after a crash.
    std::string generated_key();
    // "OPERATION at POINT" for each foreign call whose operation names no call target.
    std::vector<std::string> calls_without_target() const;

    void handle(KeyedRequest request, OnAnswer on_answer);
    // KeyRule::none: one transaction; no answer is stored.
    void handle_unkeyed(
        const detail::ErasedOperation& operation,
        const detail::StartedWith& with,
        const detail::ErasedValue& request,
        OnAnswer on_answer,
        const TracePtr& trace = nullptr
    );
    // Finishes an open key whose lease has ended, with the stored request and principal.
    void complete(std::int64_t key_id, OnAnswer on_answer);
    void settle(const Settlement& settlement, OnAnswer on_answer);
    // Runs the settlement in a transaction that is rolled back: keeper and phases run, no call is
    // made. Blocks; throws StoreError.
    SettlePreview preview(const Settlement& settlement);

    // Receives what happens from now on, beside those that do so already. Called before any
    // request.
    void observe(std::shared_ptr<Observer> by);
    Observer* observer() const { return observer_.get(); }

    bool records_traces() const { return trace_ratio_.has_value(); }
    // The trace of a request or a job, under its caller's span. nullptr: it is in none.
    TracePtr begin_trace(const std::optional<core::TraceContext>& caller);
    // That of an attempt that no caller began; `earlier` is the attempt before.
    TracePtr continue_trace(const std::optional<core::TraceContext>& earlier);
    // A new span, or if nobody records spans the same.
    std::optional<core::TraceContext> span_under(const core::TraceContext* trace);
    // The span of the last attempt at this key, if there is one. Blocks nobody.
    void look_up_trace(
        std::string hash, std::function<void(std::optional<core::TraceContext>)> found
    );

    // Called after each commit that staged jobs. Set before any request.
    void on_staged(std::function<void()> f) { on_staged_ = std::move(f); }
    void staged() const {
        if (on_staged_) on_staged_();
    }

    // Refuses new requests and waits for what is in flight; calls are told to stop in the last
    // fifth of the time. False: not finished within `limit`.
    bool stop(std::chrono::milliseconds limit);
    // The steps of stop().
    void refuse_new();
    bool wait_idle(std::chrono::milliseconds limit) { return live_.wait_empty(limit); }
    void stop_calls() { calls_.request_stop(); }
    // Tells calls to stop and waits until nothing of this engine runs, however long.
    void finish();

    // For one Tx; `staged` is set when a job is staged.
    detail::TxContext tx_context(
        store::Session& session,
        std::optional<std::int64_t> key_id,
        bool& staged,
        Isolation isolation
    ) {
        detail::TxContext context{
            session, parts_.random, key_id, &staged, options_.staging, isolation};
        context.running = running(base::RunningCode::Where::transaction, options_.phase_deadline);
        context.running.label.key_id = key_id;
        return context;
    }
    // Runs `f` in a Snapshot.
    template <class F>
    auto run_query(store::Session& session, std::string_view name, std::string_view step, F f) {
        auto here = running(base::RunningCode::Where::query, options_.phase_deadline);
        here.label.name = name;
        here.label.step = step;
        return detail::TxFactory::with_snapshot(session, here, f);
    }
    base::Running running(base::RunningCode::Where where, std::chrono::milliseconds limit) {
        return {&parts_.store.running_code(), {.where = where, .limit = limit}};
    }

    store::Store& store() { return parts_.store; }
    base::Clock& clock() { return parts_.clock; }
    base::Random& random() { return parts_.random; }
    const EngineOptions& options() const { return options_; }
    const Installation& installation() const { return installation_; }
    Calls& calls() { return calls_; }
    base::Timers& timers() { return timers_; }
    Renewals& renewals() { return renewals_; }
    Waiters& waiters() { return waiters_; }
    SeenKeys& seen_keys() { return seen_keys_; }
    PreallocatedIds& preallocated_ids() { return preallocated_ids_; }
    InFlightCalls& in_flight_calls() { return in_flight_calls_; }
    Routers& routers() { return routers_; }
    std::size_t keys_in_flight() const { return live_.size(); }

    // What restores of the database have lost; replaces the whole list. Thread-safe.
    void set_restore_gaps(std::vector<core::RestoreGap> lost);
    std::optional<TimePoint> restore_gap_start(std::int64_t key_id, TimePoint now) const;
    bool may_have_gone_on(std::int64_t key_id, int generation, TimePoint called_at) const;
    // Foreign calls begun since the engine was made.
    void count_call() { ++calls_begun_; }
    std::int64_t calls_begun() const { return calls_begun_; }

    // A call to a provider that no router chose. `target`: empty if the operation names none.
    struct EndedCall {
        bool answered{};
        std::string_view target{};
        std::string_view operation{};
        std::string_view point{};
    };
    void call_ended(const EndedCall& call, const std::string& error);
    // Those that routers keep from new payments, and others that answer no calls.
    std::vector<ProviderHealth> providers_down();
    // Logs provider_down or provider_up, with how many requests wait for it.
    void log_provider(ProviderChange change, const EndedCall& call, const std::string& error);

    // The attempt's request is the one that the key was made for: other requests get key_reused.
    void confirm(const std::string& hash) { live_.confirm(hash); }

    // Ends an attempt: answers its client and all attached requests.
    void end_attempt(const std::string& hash, const OnAnswer& owner, Answer answer);

    // The wait of an attempt is over: answers its client. The attached request that came last takes
    // its place; false: there is none, and the key is released.
    bool hand_over_wait(
        const std::string& hash, OnAnswer& owner, std::chrono::steady_clock::time_point& until
    );

private:
    // Reads a stored key, and starts an attempt with it.
    void start_stored(std::int64_t key_id, OnAnswer on_answer, std::function<void(Attempt&)> begin);
    // Reports the answer to the observer, too.
    OnAnswer observed(const detail::ErasedOperation& operation, OnAnswer on_answer) const;
    void ask_operation(KeyedRequest request, OnAnswer on_answer);
    void start_or_join(KeyedRequest request, OnAnswer on_answer);
    void answer_from_store(KeyedRequest request, std::string hash, OnAnswer on_answer);
    bool wait_for(
        const std::string& hash, std::chrono::milliseconds longest, const OnAnswer& on_answer
    );

    Parts parts_;
    EngineOptions options_;
    Installation installation_;
    std::shared_ptr<Observer> observer_;  // Shared with who reads it.
    std::optional<double> trace_ratio_{};
    std::unordered_map<std::string, std::unique_ptr<detail::ErasedOperation>> operations_;
    InFlightKeys live_;
    InFlightCalls in_flight_calls_;
    Routers routers_;
    ProviderWatch provider_watch_;
    PreallocatedIds preallocated_ids_;
    SeenKeys seen_keys_;
    std::unique_ptr<base::Timers> own_timers_;
    base::Timers& timers_;
    Renewals renewals_;
    Waiters waiters_;
    std::unique_ptr<Calls> own_calls_;
    Calls& calls_;
    std::function<void()> on_staged_;
    mutable std::mutex restore_gaps_mutex_;
    std::vector<core::RestoreGap> restore_gaps_;
    std::atomic<bool> any_restore_gap_{false};  // Avoids the mutex if nothing was ever restored.
    std::atomic<std::int64_t> calls_begun_{0};
    std::atomic<bool> stopping_{false};
};

}  // namespace pawl::engine
