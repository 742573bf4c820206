#pragma once

#include "src/store/store.hpp"

#include <future>
#include <optional>
#include <type_traits>

namespace pawl::store {

namespace detail_blocking {

template <class Enqueue, class F>
auto run_and_wait(Enqueue enqueue, F f, std::chrono::milliseconds deadline, Isolation isolation) {
    using Result = std::invoke_result_t<F&, Session&>;
    std::promise<void> ended;
    auto future = ended.get_future();
    // Handed over whole, so that the store's thread holds no part of what this one catches.
    std::exception_ptr outcome;
    auto settle = [&ended, &outcome](std::exception_ptr failed) {
        outcome = std::move(failed);
        ended.set_value();
    };
    if constexpr (std::is_void_v<Result>) {
        enqueue(work([&f](Session& session) { f(session); }, settle, deadline, isolation));
        future.get();
        if (outcome) std::rethrow_exception(std::move(outcome));
    } else {
        std::optional<Result> result;
        enqueue(work(
            [&f, &result](Session& session) { result.emplace(f(session)); },
            settle,
            deadline,
            isolation
        ));
        future.get();
        if (outcome) std::rethrow_exception(std::move(outcome));
        return std::move(*result);
    }
}

}  // namespace detail_blocking

template <class F>
auto write_now(Store& store, F f, std::chrono::milliseconds deadline, Isolation isolation) {
    return detail_blocking::run_and_wait(
        [&store](std::unique_ptr<Work> w) { store.write(std::move(w)); }, f, deadline, isolation
    );
}

template <class F>
auto read_now(Store& store, F f) {
    return detail_blocking::run_and_wait(
        [&store](std::unique_ptr<Work> w) { store.read(std::move(w)); },
        f,
        std::chrono::seconds{5},
        Isolation::repeatable_read
    );
}

}  // namespace pawl::store
