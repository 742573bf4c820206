#pragma once

#include <pawl/service.hpp>

#include <ostream>
#include <string>

// The commands on queues. Each throws CommandFailed (output.hpp) and StoreError.
namespace pawl::cli {

struct PauseRequest {
    std::string queue{"default"};
    std::string by;
    std::string reason;
};

// Lists jobs in the database, staged jobs not yet sent, jobs in an external queue, and pauses.
// If the external queue can't be queried, it prints the rest, then throws CommandFailed.
void list_queues(Service& service, bool json, std::ostream& out);
// Refuses a name that no queue has, unless the external queue can't be queried.
void pause_queue(Service& service, const PauseRequest& act, bool json, std::ostream& out);
void resume_queue(Service& service, const PauseRequest& act, bool json, std::ostream& out);

}  // namespace pawl::cli
