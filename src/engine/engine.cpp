#include "src/engine/engine.hpp"

#include "src/base/error_text.hpp"
#include "src/base/log.hpp"
#include "src/core/fault.hpp"
#include "src/engine/attempt.hpp"
#include "src/engine/attention_log.hpp"
#include "src/engine/failure.hpp"
#include "src/engine/response_rule.hpp"
#include "src/engine/run_phase.hpp"
#include "src/json/hash.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace pawl::engine {

namespace {

std::string fingerprint_under(const std::string& secret, const std::string& text) {
    return json::hex(json::hmac_sha256(secret, text));
}

void log_refused(std::string_view operation, const std::string& detail) {
    log::limited_warning(
        "request_refused",
        std::string{operation} + ": " + base::error_kind(detail),
        {{"operation", operation}, {"detail", detail}}
    );
}

// The client can't tell the difference, and repeats: another server may have the secret.
void log_unknown_secret(const KeyedRequest& request, const KeyRow& row) {
    log::limited_error(
        "secret_unknown",
        {{"code", secret_missing},
         {"version", row.secret_version},
         {"operation", request.operation->name},
         {"key_hash", logged_hash(row.hash)}}
    );
}

}  // namespace

void set_fingerprint(KeyedRequest& request, std::string text, const Installation& installation) {
    request.fingerprint = fingerprint_under(installation.secret(), text);
    request.fingerprint_text = std::move(text);
}

std::optional<bool> same_request(
    const Installation& installation, const KeyedRequest& request, const KeyRow& row
) {
    if (row.secret_version == installation.secret_version() || request.fingerprint_text.empty())
        return row.fingerprint == request.fingerprint;
    const auto old = installation.secrets.find(row.secret_version);
    if (old != installation.secrets.end())
        return row.fingerprint == fingerprint_under(old->second, request.fingerprint_text);
    log_unknown_secret(request, row);
    return std::nullopt;
}

std::optional<Answer> answer_of(const core::Claim& claim, std::optional<KeyRow>& found) {
    struct Decide {
        std::optional<KeyRow>& found;
        using Result = std::optional<Answer>;
        Result operator()(core::Fresh) const { return std::nullopt; }
        Result operator()(core::Resume) const { return std::nullopt; }
        Result operator()(core::ReExecute) const { return std::nullopt; }
        Result operator()(core::Replay) const {
            return StoredResponse{std::move(found->response), true, found->expires_at};
        }
        Result operator()(core::Busy) const { return Rejection{.reason = Reason::in_progress}; }
        Result operator()(core::Mismatch) const { return Rejection{.reason = Reason::key_reused}; }
        Result operator()(core::NotComparable) const {
            return Rejection{
                .reason = Reason::other_server,
                .detail = std::string{secret_missing} + ": secret version " +
                          std::to_string(found->secret_version),
                .retry_after = 5s,
                .code = secret_missing};
        }
        Result operator()(core::Expired) const {
            return Rejection{
                .reason = Reason::key_expired,
                .outcome = found->outcome,
                .location = found->location};
        }
        Result operator()(core::NeedsPerson) const {
            return Rejection{.reason = Reason::needs_attention};
        }
        Result operator()(core::OnHold) const {
            return Rejection{.reason = Reason::on_hold, .retry_after = 30s};
        }
        Result operator()(core::Stranded) const {
            return Rejection{
                .reason = Reason::stranded,
                .detail = "PAWL0007: recovery point " + found->recovery_point,
                .retry_after = 5s};
        }
    };
    return std::visit(Decide{found}, claim);
}

namespace {

// The stored answer of a key that is in flight; runs nothing.
Answer stored_answer(
    const Installation& installation, const KeyedRequest& request, std::optional<KeyRow>& row
) {
    const auto same =
        row->expired ? std::optional{true} : same_request(installation, request, *row);
    const core::KeyFacts facts{
        .expired = row->expired,
        .same_request = same.value_or(false),
        .comparable = same.has_value(),
        .status = row->status};
    const auto claim = core::decide_claim(&facts, request.operation->settings.re_execute, {}, {});
    return answer_of(claim, row).value_or(Rejection{.reason = Reason::in_progress});
}

}  // namespace

Engine::Engine(Parts parts, EngineOptions options, Installation installation)
    : parts_{parts},
      options_{options},
      installation_{std::move(installation)},
      preallocated_ids_{parts_.store},
      seen_keys_{preallocated_ids_.is_supported()},
      own_timers_{parts_.timers ? nullptr : std::make_unique<base::TimerThread>(parts_.clock)},
      timers_{parts_.timers ? *parts_.timers : *own_timers_},
      renewals_{parts_.store, parts_.clock, timers_, options_.lease},
      waiters_{
          parts_.store,
          parts_.clock,
          timers_,
          {.every = options_.poll_every,
           .keys_max = options_.waiting_max,
           .lease = options_.lease}},
      own_calls_{parts_.calls ? nullptr : std::make_unique<CallPool>(options_.calls_max)},
      calls_{parts_.calls ? *parts_.calls : *own_calls_} {
    set_restore_gaps(installation_.lost);
}

void Engine::set_restore_gaps(std::vector<core::RestoreGap> lost) {
    const std::lock_guard guard{restore_gaps_mutex_};
    restore_gaps_ = std::move(lost);
    any_restore_gap_ = !restore_gaps_.empty();
}

std::optional<TimePoint> Engine::restore_gap_start(std::int64_t key_id, TimePoint now) const {
    if (!any_restore_gap_) return std::nullopt;
    const std::lock_guard guard{restore_gaps_mutex_};
    return core::restore_gap_start(restore_gaps_, key_id, now);
}

bool Engine::may_have_gone_on(std::int64_t key_id, int generation, TimePoint called_at) const {
    if (!any_restore_gap_) return false;
    const std::lock_guard guard{restore_gaps_mutex_};
    return core::may_have_gone_on(restore_gaps_, key_id, generation, called_at);
}

// All attempts return to this engine: from a call, the store or a timer.
Engine::~Engine() {
    finish();
}

void Engine::finish() {
    stop(std::chrono::milliseconds{0});
    live_.wait_empty();
    waiters_.finish();
    timers_.stop();
}

// Waiters for a key of another process would only delay the stop.
void Engine::refuse_new() {
    stopping_ = true;
    in_flight_calls_.stop();
    waiters_.stop();
}

const detail::ErasedOperation& Engine::add(detail::ErasedOperation form) {
    std::string name{form.name};
    auto [at, fresh] =
        operations_.emplace(name, std::make_unique<detail::ErasedOperation>(std::move(form)));
    if (!fresh) throw std::logic_error{"pawl: two operations are named '" + name + "'"};
    return *at->second;
}

const detail::ErasedOperation* Engine::find(std::string_view operation) const {
    const auto at = operations_.find(std::string{operation});
    return at == operations_.end() ? nullptr : at->second.get();
}

bool Engine::knows_point(std::string_view operation, std::string_view point) const {
    const auto* known = find(operation);
    return known != nullptr && known->step_from(point).has_value();
}

std::vector<const detail::ErasedOperation*> Engine::operations() const {
    std::vector<const detail::ErasedOperation*> found;
    for (const auto& [name, form] : operations_) found.push_back(form.get());
    std::ranges::sort(found, {}, &detail::ErasedOperation::name);
    return found;
}

std::string Engine::generated_key() {
    return "made-" + base::random_hex(parts_.random, 32);
}

std::vector<std::string> Engine::calls_without_target() const {
    std::vector<std::string> found;
    for (const auto& [name, form] : operations_)
        for (const auto& step : form->steps)
            if (step.foreign && step.route == nullptr && step.call_target == nullptr)
                found.push_back(name + " at " + std::string{step.from});
    return found;
}

void Engine::handle(KeyedRequest request, OnAnswer on_answer) {
    on_answer = observed(*request.operation, std::move(on_answer));
    if (stopping_) return on_answer(Rejection{.reason = Reason::stopping});
    if (request.operation->before_key != nullptr && !request.of_a_job)
        return ask_operation(std::move(request), std::move(on_answer));
    start_or_join(std::move(request), std::move(on_answer));
}

OnAnswer Engine::observed(const detail::ErasedOperation& operation, OnAnswer on_answer) const {
    if (observer_ == nullptr) return on_answer;
    return [by = observer_.get(), &operation, on_answer = std::move(on_answer)](Answer answer) {
        by->on_answer(operation, answer);
        on_answer(std::move(answer));
    };
}

// Runs before the key is queried or claimed, so that a refused request blocks no other.
void Engine::ask_operation(KeyedRequest request, OnAnswer on_answer) {
    const auto asked = std::make_shared<const KeyedRequest>(std::move(request));
    auto refused = std::make_shared<std::optional<Response>>();  // Shared by the read's callbacks.
    parts_.store.read(store::work(
        [this, asked, refused](store::Session& session) {
            const auto& form = *asked->operation;
            *refused = run_query(session, form.name, "before_key", [&](Snapshot& read) {
                return form.before_key(
                    form.op.get(),
                    read,
                    {asked->principal, asked->origin, asked->key},
                    asked->request.get()
                );
            });
        },
        [this, held = live_.hold(), asked, refused, on_answer = std::move(on_answer)](
            const std::exception_ptr& failed
        ) {
            if (failed) {
                auto rejection = failure_of(failed).rejection;
                log_refused(asked->operation->name, rejection.detail);
                return on_answer(std::move(rejection));
            }
            if (*refused) return on_answer(StoredResponse{std::move(**refused), false, {}});
            start_or_join(*asked, on_answer);
        }
    ));
}

void Engine::start_or_join(KeyedRequest request, OnAnswer on_answer) {
    if (stopping_) return on_answer(Rejection{.reason = Reason::stopping});
    auto hash =
        key_hash(key_identity(request.operation->settings.scope, request.principal, request.key));
    const auto entered = live_.enter(hash, request.fingerprint);
    if (const auto* occupied = std::get_if<InFlightKeys::Occupied>(&entered)) {
        if (occupied->same_request == false)
            return on_answer(Rejection{.reason = Reason::key_reused});
        const auto longest = request.operation->settings.in_progress.wait;
        if (!occupied->same_request || longest.count() == 0)
            return answer_from_store(std::move(request), std::move(hash), std::move(on_answer));
        if (wait_for(hash, longest, on_answer)) return;
        return start_or_join(
            std::move(request), std::move(on_answer)
        );  // The attempt has just ended.
    }
    std::make_shared<Attempt>(*this, std::move(request), std::move(hash), std::move(on_answer))
        ->claim();
}

// The key is in flight, but may have an answer: the attempt in flight may be reading it, or may
// have lost its lease to another server. Never takes the key over.
void Engine::answer_from_store(KeyedRequest request, std::string hash, OnAnswer on_answer) {
    lookup_key(
        parts_.store,
        std::move(hash),
        [this, held = live_.hold(), request = std::move(request), on_answer = std::move(on_answer)](
            const std::exception_ptr& failed, std::optional<KeyRow>& found, TimePoint
        ) {
            // The key may have an answer that can't be read now.
            if (failed) return on_answer(failure_of(failed).rejection);
            if (!found) return on_answer(Rejection{.reason = Reason::in_progress});
            on_answer(stored_answer(installation_, request, found));
        }
    );
}

// Attaches to the running attempt, and is called when that ends. False: it has already ended.
bool Engine::wait_for(
    const std::string& hash, std::chrono::milliseconds longest, const OnAnswer& on_answer
) {
    const auto waiter = live_.attach(hash, on_answer, parts_.clock.steady() + longest);
    if (!waiter) return false;
    timers_.after(longest, [this, hash, waiter] {
        if (auto late = live_.detach(hash, *waiter))
            (*late)(Rejection{.reason = Reason::in_progress});
    });
    return true;
}

void Engine::end_attempt(const std::string& hash, const OnAnswer& owner, Answer answer) {
    auto waiting = live_.remove(hash);
    PAWL_FAULT("engine.answer.before");
    for (auto& waiter : waiting) {
        auto copy = answer;
        if (auto* settled = std::get_if<StoredResponse>(&copy)) settled->replayed = true;
        waiter(std::move(copy));
    }
    if (owner) owner(std::move(answer));
    live_.waiters_answered();
}

bool Engine::hand_over_wait(
    const std::string& hash, OnAnswer& owner, std::chrono::steady_clock::time_point& until
) {
    auto next = live_.hand_over(hash);
    owner(Rejection{.reason = Reason::in_progress});
    if (!next) {
        owner = nullptr;
        live_.waiters_answered();
        return false;
    }
    owner = std::move(next->on_answer);
    until = next->until;
    return true;
}

void Engine::handle_unkeyed(
    const detail::ErasedOperation& operation,
    const detail::StartedWith& with,
    const detail::ErasedValue& request,
    OnAnswer on_answer,
    const TracePtr& trace
) {
    on_answer = observed(operation, std::move(on_answer));
    auto held = live_.hold();  // Before the question whether it stops.
    if (stopping_) return on_answer(Rejection{.reason = Reason::stopping});
    struct Ended {
        Response response;
        bool staged{};
    };
    auto reached = std::make_shared<Ended>();  // Shared by the transaction's callbacks.
    const auto start = operation.start(with, request.get());
    parts_.store.write(store::work(
        [this, &operation, start, reached, trace](store::Session& session) {
            *reached = {};
            auto context =
                tx_context(session, std::nullopt, reached->staged, operation.settings.isolation);
            if (trace) context.trace = &trace->here;
            auto moved = detail::StepOutcome{detail::ReachedPoint{0, start}};
            while (const auto* at = std::get_if<detail::ReachedPoint>(&moved))
                moved = run_phase(context, operation, *at);
            reached->response = checked_response(std::move(*final_response(moved)), Bytes::any);
        },
        [this, &operation, reached, held = std::move(held), on_answer = std::move(on_answer)](
            const std::exception_ptr& failed
        ) {
            if (failed) {
                auto rejection = failure_of(failed).rejection;
                log_refused(operation.name, rejection.detail);
                return on_answer(std::move(rejection));
            }
            if (reached->staged) staged();
            on_answer(StoredResponse{std::move(reached->response), false, std::nullopt});
        },
        options_.phase_deadline,
        operation.settings.isolation
    ));
}

void Engine::complete(std::int64_t key_id, OnAnswer on_answer) {
    start_stored(key_id, std::move(on_answer), [](Attempt& attempt) {
        attempt.take_over_stored();
    });
}

void Engine::settle(const Settlement& settlement, OnAnswer on_answer) {
    start_stored(settlement.key_id, std::move(on_answer), [settlement](Attempt& attempt) {
        attempt.settle(settlement);
    });
}

void Engine::start_stored(
    std::int64_t key_id, OnAnswer on_answer, std::function<void(Attempt&)> begin
) {
    if (stopping_) return on_answer(Rejection{.reason = Reason::stopping});
    lookup_key(
        parts_.store,
        key_id,
        [this, on_answer = std::move(on_answer), begin = std::move(begin)](
            const std::exception_ptr& failed, const std::optional<KeyRow>& row, TimePoint
        ) {
            if (failed) return on_answer(failure_of(failed).rejection);
            if (!row || row->expired) return on_answer(Rejection{.reason = Reason::in_progress});
            const auto* operation = find(row->operation);
            if (operation == nullptr)
                return on_answer(Rejection{
                    .reason = Reason::stranded, .detail = "PAWL0007: operation " + row->operation});
            const bool known = row->secret_version == installation_.secret_version();
            const auto entered = live_.enter(row->hash, known ? row->fingerprint : std::string{});
            if (std::holds_alternative<InFlightKeys::Occupied>(entered))
                return on_answer(Rejection{.reason = Reason::in_progress});
            begin(*std::make_shared<Attempt>(*this, *operation, *row, on_answer));
        }
    );
}

// Work in flight may end by itself; calls are told to stop early enough to record their outcome.
bool Engine::stop(std::chrono::milliseconds limit) {
    refuse_new();
    const auto last = limit / 5;
    const bool drained = wait_idle(limit - last);
    stop_calls();
    return drained || wait_idle(last);
}

}  // namespace pawl::engine
