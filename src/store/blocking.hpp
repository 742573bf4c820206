#pragma once

#include "src/base/blocking_wait.hpp"
#include "src/store/store.hpp"

#include <future>
#include <memory>
#include <optional>
#include <type_traits>
#include <variant>

// Blocking calls for tools, start-up and tests; never on a thread that serves requests.
namespace pawl::store {

// Runs f in a work that `enqueue` gives to a store, and returns its result.
template <class Enqueue, class F>
auto run_and_wait(
    Enqueue enqueue,
    F f,
    std::chrono::milliseconds deadline = std::chrono::seconds{5},
    Isolation isolation = Isolation::read_committed,
    const void* kind = nullptr
) {
    using Result = std::invoke_result_t<F&, Session&>;
    constexpr bool has_result = !std::is_void_v<Result>;
    std::optional<std::conditional_t<has_result, Result, std::monostate>> result;
    std::promise<void> ended;
    // Moved as a whole, so that the store's thread shares no part of the exception with this one.
    std::exception_ptr outcome;
    enqueue(work(
        [&](Session& session) {
            if constexpr (has_result)
                result.emplace(f(session));
            else
                f(session);
        },
        [&](std::exception_ptr failed) {
            outcome = std::move(failed);
            ended.set_value();
        },
        deadline,
        isolation,
        kind
    ));
    base::wait_for(ended.get_future());
    if (outcome) std::rethrow_exception(std::move(outcome));
    if constexpr (has_result) return std::move(*result);
}

template <class F>
auto write_now(
    Store& store,
    F f,
    std::chrono::milliseconds deadline = std::chrono::seconds{5},
    Isolation isolation = Isolation::read_committed
) {
    return run_and_wait(
        [&store](std::unique_ptr<Work> w) { store.write(std::move(w)); }, f, deadline, isolation
    );
}

// Like write_now() for short writes of rows by their ids, as any thread may make at any time. They
// may share a transaction and its commit with works of other kinds, and so have the isolation that
// phases have by default: at another one they would need commits of their own.
template <class F>
auto write_together(Store& store, const Sql& kind, F f) {
    return run_and_wait(
        [&store](std::unique_ptr<Work> w) { store.write(std::move(w)); },
        f,
        std::chrono::seconds{5},
        Isolation::repeatable_read,
        &kind
    );
}

// How long each read_now() of this thread may take. Threads that people share set less.
inline thread_local std::chrono::milliseconds read_max{5'000};

template <class F>
auto read_now(Store& store, F f) {
    return run_and_wait(
        [&store](std::unique_ptr<Work> w) { store.read(std::move(w)); }, f, read_max
    );
}

}  // namespace pawl::store
