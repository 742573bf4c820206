#include "src/store/postgres/looks.hpp"

#include "src/store/postgres/row.hpp"

#include <postgresql/libpq-fe.h>

#include <chrono>
#include <span>
#include <utility>

namespace pawl::postgres {

namespace {

using Looks = std::vector<std::unique_ptr<store::Look>>;

constexpr std::chrono::seconds look_deadline{5};

struct Found {
    std::vector<Result> answers;  // Of the queries before the first failure.
    std::exception_ptr failed;    // The failure of the next query; the rest were not executed.
};

// Stops before a query that can't be sent; if it is the first, throws its error.
void queue_all(Connection& connection, const Looks& looks) {
    for (const auto& look : looks) {
        try {
            connection.queue(look->statement(), look->parameters(), Connection::Use::plain);
        } catch (const StoreError&) {
            if (look == looks.front()) throw;
            return;
        }
    }
}

Found find(Connection& connection, const Looks& looks) {
    Found found;
    try {
        queue_limits(connection, look_deadline);
        queue_all(connection, looks);
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

void deliver(store::Look& look, const pg_result* answer, TimePoint now) {
    std::exception_ptr failed;
    try {
        PostgresRow row{answer, look.statement().name};
        for (int i = 0; i < PQntuples(answer); ++i) {
            row.at(i);
            look.row(row);
        }
    } catch (...) {
        failed = std::current_exception();
    }
    look.done(std::move(failed), now);
}

}  // namespace

std::exception_ptr run_looks(const TransactionParts& parts, Looks& looks) {
    auto& connection = parts.connection;
    while (!looks.empty()) {
        auto found = find(connection, looks);
        const auto known = parts.options.database_clock ? connection.database_now() : std::nullopt;
        const auto now = known.value_or(parts.clock.now());
        auto answered = std::span{looks}.first(found.answers.size());
        for (std::size_t i = 0; i < answered.size(); ++i)
            deliver(*answered[i], found.answers[i].get(), now);
        looks.erase(looks.begin(), looks.begin() + static_cast<std::ptrdiff_t>(answered.size()));
        if (!connection.usable()) return found.failed;
        if (!found.failed) continue;
        // Only this query fails. Moved, so that no other thread shares the exception.
        looks.front()->done(std::exchange(found.failed, nullptr), now);
        looks.erase(looks.begin());
    }
    return nullptr;
}

}  // namespace pawl::postgres
