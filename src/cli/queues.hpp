#pragma once

#include <pawl/service.hpp>

#include <ostream>
#include <string>

// The commands on queues. Each throws CannotDo (output.hpp) and StoreError.
namespace pawl::cli {

struct PauseAct {
    std::string queue{"default"};
    std::string by;
    std::string reason;
};

// Jobs of the database, staged ones on their way out, what waits in a queue outside, and pauses.
// Prints what it knows, then throws CannotDo, if the queue outside can't be asked.
void list_queues(Service& service, bool json, std::ostream& out);
// Refuses a name that no queue has, unless the queue outside can't be asked for its names.
void pause_queue(Service& service, const PauseAct& act, bool json, std::ostream& out);
void resume_queue(Service& service, const PauseAct& act, bool json, std::ostream& out);

}  // namespace pawl::cli
