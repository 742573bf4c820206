#pragma once

#include <pawl/testing_operations.hpp>

#include "src/engine/engine.hpp"

#include <functional>
#include <optional>

namespace pawl::testing {

// One simulated process that serves one operation: an engine without its background services. The
// store outlives it. At its destruction it stops, and waits for its calls.
class TestProcess {
public:
    // Its requests reach the database through `store`.
    TestProcess(TestDatabase& database, store::Store& store, pawl::detail::ErasedOperation form);

    // Runs the request, and blocks until its end; nullopt: the process died first. Throws
    // std::logic_error if that takes longer than half a minute.
    std::optional<RunResult> run(
        const pawl::detail::ErasedValue& request,
        const AskedBy& by,
        const std::function<bool()>& is_dead = [] { return false; }
    );

private:
    engine::Engine engine_;
    const pawl::detail::ErasedOperation& form_;
};

// The leases of all processes before have ended, as at the start of a server on SQLite.
void end_leases(store::Store& store);

}  // namespace pawl::testing
