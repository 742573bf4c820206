#pragma once

#include <pawl/outbox.hpp>

namespace pawl::testing {

// The table that the tests' outbox writes in the transaction that ends a request.
inline constexpr Sql ends_table{
    "migration_0001_ends",
    "CREATE TABLE ends (key TEXT NOT NULL, status INTEGER NOT NULL)",
    "CREATE TABLE ends (key TEXT NOT NULL, status INTEGER NOT NULL)"};
inline constexpr Statement<2> insert_end{
    "insert_end",
    "INSERT INTO ends (key, status) VALUES ($1, $2)",
    "INSERT INTO ends (key, status) VALUES ($1, $2)"};

inline void write_end(Tx& tx, const OutboxResult& ended) {
    const auto* answered = std::get_if<Answered>(&ended.end);
    execute(tx, insert_end, ended.key.text(), answered != nullptr ? answered->status : 0);
}

inline ClientOptions quick_client() {
    return {
        .timeout = std::chrono::seconds{5},
        .deadline = std::chrono::seconds{5},
        .tries_max = 2,
        .wait_first = std::chrono::milliseconds{1},
        .wait_max = std::chrono::milliseconds{5},
        .budget_per_s = 1e6,
        .breaker_failures = 0};
}

}  // namespace pawl::testing
