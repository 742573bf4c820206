#pragma once

#include <pawl/call.hpp>
#include <pawl/inquiry.hpp>
#include <pawl/isolation.hpp>
#include <pawl/router.hpp>
#include <pawl/tx.hpp>

#include "src/base/random.hpp"
#include "src/base/running_code.hpp"
#include "src/core/trace_context.hpp"
#include "src/engine/key_references.hpp"
#include "src/engine/staging.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace pawl::detail {

// What a Tx uses. Lives as long as the Tx, on the store's thread.
struct TxContext {
    Session& session;
    base::Random& random;
    std::optional<std::int64_t> key_id{};
    bool* staged{};  // Set when a job is staged.
    engine::Staging staging{engine::Staging::as_job};
    Isolation isolation{Isolation::repeatable_read};
    engine::KeyReferences* references{};  // nullptr: the transaction belongs to no key.
    const core::TraceContext* trace{};    // Staged jobs go on in it.
    base::Running running{};
};

// The only factory of Tx, Snapshot and Call; each lives for one call of f.
struct TxFactory {
    template <class F>
    static auto with_tx(TxContext context, F f) {
        const base::RunningCode::Run run{context.running.code, context.running.label};
        Tx tx{context};
        return f(tx);
    }
    template <class F>
    static auto with_snapshot(Session& session, const base::Running& running, F f) {
        const base::RunningCode::Run run{running.code, running.label};
        Snapshot snapshot{session};
        return f(snapshot);
    }
    // What a call knows besides its key.
    struct CallContext {
        std::stop_token stop;
        const core::TraceContext* span{};  // Its own span; nullptr: it is in no trace.
        base::Running running{};
        std::function<bool()> may_send{};
    };
    template <class F>
    static auto with_call(CallKey key, CallContext context, F f) {
        const base::RunningCode::Run run{context.running.code, context.running.label};
        KeyedCall call{std::move(key), std::move(context.stop)};
        equip(call, context);
        return f(call);
    }
    template <class F>
    static auto with_routed_call(CallKey key, const Provider& provider, CallContext context, F f) {
        const base::RunningCode::Run run{context.running.code, context.running.label};
        RoutedCall call{std::move(key), provider, std::move(context.stop)};
        equip(call, context);
        return f(call);
    }
    // provider: nullptr if the call is not Routed.
    template <class F>
    static auto with_inquiry(
        CallKey key, TimePoint called_at, const Provider* provider, CallContext context, F f
    ) {
        const base::RunningCode::Run run{context.running.code, context.running.label};
        InquiryCall call{std::move(key), called_at, provider, std::move(context.stop)};
        equip(call, context);
        return f(call);
    }

private:
    static void equip(Call& call, CallContext& context) {
        if (context.may_send) call.may_send_ = std::move(context.may_send);
        if (context.span == nullptr) return;
        call.traceparent_ = context.span->traceparent();
        call.tracestate_ = context.span->tracestate();
    }
};

}  // namespace pawl::detail
