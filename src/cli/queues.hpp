#pragma once

#include <pawl/service.hpp>

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

// The commands on queues. Each throws CommandFailed (output.hpp) and StoreError.
namespace pawl::cli {

struct PauseRequest {
    std::string queue{"default"};
    std::string by;
    std::string reason;
};

struct QueueLine {
    std::string queue;
    std::string where;  // database, redis or kafka.
    std::int64_t ready{};
    std::int64_t running{};
    std::int64_t retrying{};  // Between two tries; an external queue counts them as `later`.
    std::int64_t later{};     // In the external queue: put off, or to be tried again.
    std::int64_t staged{};    // In the database, on their way to an external queue.
    std::optional<std::int64_t> dead;   // Of the database; nullopt for an external queue.
    std::optional<std::string> oldest;  // The due time of the oldest job.
    std::optional<int> running_max;     // Limits over all servers, as the last start declared them.
    std::optional<int> partition_max;
    std::optional<std::string> rate;
    std::optional<std::string> paused_since;
    std::optional<std::string> paused_by;
    std::optional<std::string> reason;
};
struct QueueLines {
    std::vector<QueueLine> rows;
    std::string not_asked;  // Why the external queue could not be queried; empty: it was.
};
QueueLines read_queues(Service& service);

// Lists jobs in the database, staged jobs not yet sent, jobs in an external queue, and pauses.
// If the external queue can't be queried, it prints the rest, then throws CommandFailed.
void list_queues(Service& service, bool json, std::ostream& out);
// Refuses a name that no queue has, unless the external queue can't be queried.
void pause_queue(Service& service, const PauseRequest& act, bool json, std::ostream& out);
void resume_queue(Service& service, const PauseRequest& act, bool json, std::ostream& out);

}  // namespace pawl::cli
