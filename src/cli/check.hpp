#pragma once

#include "src/cli/run.hpp"
#include "src/store/store.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::cli {

// An invariant, and the rows that break it.
struct Violation {
    std::string_view invariant;  // The name of its statement.
    std::int64_t count{};        // At most as many as were looked for.
    std::vector<std::string> examples;
    std::string_view meaning;
};

struct CheckOptions {
    int max{1'000};  // Rows to look for, of each invariant.
    std::chrono::milliseconds job_lease{};
};

// Checks each invariant in a read snapshot of its own, without writing. Throws StoreError.
std::vector<Violation> find_violations(store::Store& store, const CheckOptions& options);

// The same in an open transaction.
std::vector<Violation> find_violations_in(store::Session& session, const CheckOptions& options);

// Adds `check`.
void add_check(CLI::App& app, Run& run);

}  // namespace pawl::cli
