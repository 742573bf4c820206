#pragma once

#include "src/base/blocking_wait.hpp"
#include "src/store/store.hpp"

#include <future>
#include <memory>
#include <optional>
#include <type_traits>

namespace pawl::store {

namespace detail_blocking {

// Adds a kind to a work.
class WorkOfKind final : public Work {
public:
    WorkOfKind(const void* kind, std::unique_ptr<Work> work)
        : kind_{kind}, work_{std::move(work)} {}
    void run(Session& session) override { work_->run(session); }
    void done(std::exception_ptr failed) noexcept override { work_->done(std::move(failed)); }
    std::chrono::milliseconds deadline() const override { return work_->deadline(); }
    Isolation isolation() const override { return work_->isolation(); }
    const void* kind() const override { return kind_; }

private:
    const void* kind_;
    std::unique_ptr<Work> work_;
};

template <class Enqueue, class F>
auto run_and_wait(Enqueue enqueue, F f, std::chrono::milliseconds deadline, Isolation isolation) {
    using Result = std::invoke_result_t<F&, Session&>;
    std::promise<void> ended;
    // Moved as a whole, so that the store's thread shares no part of the exception with this one.
    std::exception_ptr outcome;
    auto settle = [&ended, &outcome](std::exception_ptr failed) {
        outcome = std::move(failed);
        ended.set_value();
    };
    if constexpr (std::is_void_v<Result>) {
        enqueue(work([&f](Session& session) { f(session); }, settle, deadline, isolation));
        base::wait_for(ended.get_future());
        if (outcome) std::rethrow_exception(std::move(outcome));
    } else {
        std::optional<Result> result;
        enqueue(work(
            [&f, &result](Session& session) { result.emplace(f(session)); },
            settle,
            deadline,
            isolation
        ));
        base::wait_for(ended.get_future());
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

// Like write_now() for short writes of one row by its id, as any thread may make at any time.
// Writes of the same `kind` may share a transaction and its commit.
template <class F>
auto write_together(Store& store, const Sql& kind, F f) {
    return detail_blocking::run_and_wait(
        [&](std::unique_ptr<Work> w) {
            store.write(std::make_unique<detail_blocking::WorkOfKind>(&kind, std::move(w)));
        },
        f,
        std::chrono::seconds{5},
        Isolation::read_committed
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
