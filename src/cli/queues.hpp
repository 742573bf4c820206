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

// What the database knows of them: its own jobs, staged ones on their way out, and pauses.
void list_queues(Service& service, bool json, std::ostream& out);
void pause_queue(Service& service, const PauseAct& act, bool json, std::ostream& out);
void resume_queue(Service& service, const PauseAct& act, bool json, std::ostream& out);

}  // namespace pawl::cli
