#include "src/store/postgres/lookups.hpp"

#include "src/store/postgres/row.hpp"

#include <postgresql/libpq-fe.h>

#include <chrono>
#include <span>
#include <utility>

namespace pawl::postgres {

namespace {

using Looks = std::vector<std::unique_ptr<store::Lookup>>;

constexpr std::chrono::seconds look_deadline{5};

struct Found {
    std::vector<Result> answers;  // Of the queries before the first failure.
    std::exception_ptr failed;    // The failure of the next query; the rest were not executed.
};

// Stops before a query that can't be sent; if it is the first, throws its error.
void queue_all(Connection& connection, const Looks& lookups) {
    for (const auto& lookup : lookups) {
        try {
            connection.queue(lookup->statement(), lookup->parameters(), Connection::Use::plain);
        } catch (const StoreError&) {
            if (lookup == lookups.front()) throw;
            return;
        }
    }
}

Found find(Connection& connection, const Looks& lookups) {
    Found found;
    try {
        queue_limits(connection, look_deadline);
        queue_all(connection, lookups);
        bool limits = true;  // The first answer is that of the limits.
        connection.flush_each([&](Result answer, std::optional<StoreError> failed) {
            if (failed && !found.failed) found.failed = std::make_exception_ptr(*failed);
            if (!failed && !std::exchange(limits, false))
                found.answers.push_back(std::move(answer));
        });
    } catch (...) {
        found.failed = std::current_exception();
        connection.forget_queued();
    }
    connection.clear_deadline();
    return found;
}

void deliver(store::Lookup& lookup, const pg_result* answer, TimePoint now) {
    std::exception_ptr failed;
    try {
        PostgresRow row{answer, lookup.statement().name};
        for (int i = 0; i < PQntuples(answer); ++i) {
            row.at(i);
            lookup.row(row);
        }
    } catch (...) {
        failed = std::current_exception();
    }
    lookup.done(std::move(failed), now);
}

}  // namespace

std::exception_ptr run_lookups(const TransactionParts& parts, Looks& lookups) {
    auto& connection = parts.connection;
    while (!lookups.empty()) {
        auto found = find(connection, lookups);
        const auto known = parts.options.database_clock ? connection.database_now() : std::nullopt;
        const auto now = known.value_or(parts.clock.now());
        auto answered = std::span{lookups}.first(found.answers.size());
        for (std::size_t i = 0; i < answered.size(); ++i)
            deliver(*answered[i], found.answers[i].get(), now);
        lookups.erase(
            lookups.begin(), lookups.begin() + static_cast<std::ptrdiff_t>(answered.size())
        );
        if (!connection.usable()) return found.failed;
        if (!found.failed) continue;
        // Only this query fails. Moved, so that no other thread shares the exception.
        lookups.front()->done(std::exchange(found.failed, nullptr), now);
        lookups.erase(lookups.begin());
    }
    return nullptr;
}

}  // namespace pawl::postgres
