#pragma once

#include <pawl/detail/erased_operation.hpp>
#include <pawl/service.hpp>
#include <pawl/testing.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

// For tests of whole operations, with any test framework. Link pawl::testing.
namespace pawl::testing {

// Who sends the test's request, under which key.
struct AskedBy {
    Principal principal{"test", "test"};
    std::string key{"test-key"};  // Empty if the operation needs none.
};

// A result that a foreign call of a run has without being made: returns<&Transfer::pay>(Paid{7}).
template <auto Call, class Result>
struct FakedCall {
    Result result;
};
template <auto Call, class Result>
FakedCall<Call, Result> returns(Result result) {
    return {std::move(result)};
}

// What kill_everywhere() does to one run.
enum class Cut {
    nothing,
    before_commit,      // The process dies, and the transaction is rolled back.
    after_commit,       // The process dies before it learns of the commit, or answers.
    commit_in_doubt,    // The transaction is committed, but the database's answer is lost.
    after_call,         // The process dies after the call, before its result is recorded.
    call_refused,       // The call is not made: Retry.
    call_lost,          // The call is not made, but might have been: InDoubt.
    call_in_doubt,      // The call is made, but its result is lost: InDoubt.
    call_returns_late,  // The call is made. Before it returns, another process takes the request
                        // over and runs it to its end.
};

struct CutRun {
    Cut cut{};
    int at{};         // The number of the commit or the call, from 1.
    RunResult end{};  // Of the last repeat: final, or waiting for a person (needs-attention).

    std::string text() const;  // "before commit 2", for a message.
};

template <class Op>
struct KillPlan {
    using Request = typename Op::Flow::First::Request;

    std::string_view owner{};  // As for TestDatabase.
    std::span<const Sql* const> migrations{};
    // Called before each run: sets up rows, and a new fake of each provider.
    std::function<void(TestDatabase&)> prepare{};
    // The operation of one process; several are made in a run. They share the fakes.
    std::function<Op()> make{};
    Request request{};
    AskedBy by{};
    // Called after each run: checks what must be so wherever the process died. May throw, as the
    // assertions of some frameworks do.
    std::function<void(TestDatabase&, const CutRun&)> check{};
};

namespace detail {

using pawl::detail::ErasedOperation, pawl::detail::ErasedValue;

struct ErasedPlan {
    std::string_view owner{};
    std::span<const Sql* const> migrations{};
    std::function<void(TestDatabase&)> prepare{};
    std::function<ErasedOperation()> make{};
    ErasedValue request{};
    AskedBy by{};
    std::function<void(TestDatabase&, const CutRun&)> check{};
};

RunResult run(
    TestDatabase& database, ErasedOperation form, const ErasedValue& request, const AskedBy& by
);
int kill_everywhere(const ErasedPlan& plan);

template <auto Run, class S>
constexpr bool is_step() {
    if constexpr (std::is_same_v<decltype(Run), std::remove_const_t<decltype(S::run)>>)
        return S::foreign && Run == S::run;
    else
        return false;
}

template <auto Call, class Result, class... S>
void fake_call(ErasedOperation& form, Result result, const std::tuple<S...>*) {
    static_assert(
        (is_step<Call, S>() || ...), "pawl: returns<> names no foreign call of this operation"
    );
    auto value = std::make_shared<const Result>(std::move(result));
    std::size_t step = 0;
    const auto fake = [&]<class Step>(const Step*) {
        if constexpr (is_step<Call, Step>()) {
            const auto index = [&]<class... R>(pawl::detail::List<R...>) {
                static_assert(
                    (std::is_same_v<Result, R> || ...),
                    "pawl: returns<> gives a value that is no result of this foreign call"
                );
                return pawl::detail::index_of<Result, R...>();
            }(typename Step::Form::Results{});
            form.steps[step].call = [=](void*, KeyedCall&, const void*) {
                return pawl::detail::CallResult{index, value};
            };
        }
        ++step;
    };
    (fake(static_cast<const S*>(nullptr)), ...);
}

template <class Op>
ErasedOperation erase(Op op) {
    return pawl::detail::erase_operation(std::make_shared<Op>(std::move(op)));
}

}  // namespace detail

// Runs a whole operation once, as Service::run() does: each phase in a transaction of the database,
// each call by the operation itself, or by a result that is given for it. Jobs are staged, not
// worked.
//
//   auto end = run(database, Transfer{bank}, TransferRequest{"a", "b", 7});
//   auto paid = run(database, Transfer{bank}, request, returns<&Transfer::pay>(Paid{"p1"}));
template <Operation Op, class... Faked>
RunResult run(
    TestDatabase& database,
    Op op,
    const typename Op::Flow::First::Request& request,
    const AskedBy& by,
    const Faked&... faked
) {
    auto form = detail::erase(std::move(op));
    [[maybe_unused]] const auto fake = [&]<auto Call, class Result>(
        const FakedCall<Call, Result>& one
    ) {
        detail::fake_call<Call>(
            form, one.result, static_cast<const typename Op::Flow::All*>(nullptr)
        );
    };
    (fake(faked), ...);
    auto value = std::make_shared<const typename Op::Flow::First::Request>(request);
    return detail::run(database, std::move(form), value, by);
}
template <Operation Op, class... Faked>
RunResult run(
    TestDatabase& database,
    Op op,
    const typename Op::Flow::First::Request& request,
    const Faked&... faked
) {
    return run(database, std::move(op), request, AskedBy{}, faked...);
}

// Runs the operation once for each way to cut it, at each commit and each call, on a fresh database
// each time, and repeats the request under its key until it has ended. Then it calls the plan's
// check. Throws std::logic_error if two repeats were answered differently. Returns the number of
// runs.
template <Operation Op>
int kill_everywhere(const KillPlan<Op>& plan) {
    static_assert(
        pawl::detail::settings_of<Op>().key != KeyRule::none,
        "pawl: a request without a key can't be repeated, so there is nothing to resume"
    );
    return detail::kill_everywhere(
        {.owner = plan.owner,
         .migrations = plan.migrations,
         .prepare = plan.prepare,
         .make = [&plan] { return detail::erase(plan.make()); },
         .request = std::make_shared<const typename KillPlan<Op>::Request>(plan.request),
         .by = plan.by,
         .check = plan.check}
    );
}

}  // namespace pawl::testing
