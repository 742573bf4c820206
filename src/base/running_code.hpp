#pragma once

#include "src/base/clock.hpp"

#include <pthread.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::base {

// The application's code that runs now: phases, queries, calls and handlers of jobs. Another thread
// reads it, so that code which does not come back is noticed. Thread-safe.
class RunningCode {
public:
    using Steady = std::chrono::steady_clock::time_point;

    explicit RunningCode(Clock& clock = system_clock()) : clock_{clock} {}  // Outlives it.

    enum class Where {
        transaction,  // On a store's thread; on SQLite it holds the only writer.
        query,        // In a snapshot, on a store's thread.
        job,          // The handler of a job, which may call.
        call          // The foreign call or inquiry of an operation.
    };
    // The texts outlive the run.
    struct Label {
        Where where{};
        std::string_view name{};  // Of the operation or query; of a job its kind.
        std::string_view step{};
        std::string_view jid{};
        std::optional<std::int64_t> key_id{};
        std::chrono::milliseconds limit{};
    };

    // Registers what this thread runs, as long as it lives.
    class Run {
    public:
        Run(RunningCode* code, const Label& label);  // nullptr: registers nothing.
        ~Run();
        Run(const Run&) = delete;
        Run& operator=(const Run&) = delete;

    private:
        friend class RunningCode;
        RunningCode* code_;
        Label label_;
        pthread_t thread_{};
        Steady began_{};
        std::uint64_t number_{};
        Run* before_{};
        Run* after_{};
    };

    struct Seen {
        std::uint64_t number{};  // Of each run another.
        Where where{};
        std::string name{};
        std::string step{};
        std::string jid{};
        std::optional<std::int64_t> key_id{};
        std::string thread{};
        std::chrono::milliseconds ran{};
        std::chrono::milliseconds limit{};
    };
    std::vector<Seen> list();  // The oldest first.

private:
    Clock& clock_;
    std::mutex mutex_;
    Run* first_{};
    Run* last_{};
    std::uint64_t runs_{0};
};

// What a Tx, a Snapshot or a Call registers. `code` is nullptr in tests of single steps.
struct Running {
    RunningCode* code{};
    RunningCode::Label label{};
};

}  // namespace pawl::base
