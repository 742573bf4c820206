#pragma once

#include <string_view>

namespace pawl::queue {

struct DeadJob {
    std::string_view jid;
    std::string_view kind;
    std::string_view queue;
    int failures{};
    std::string_view detail;
};

// Logs job_dead, after the job has become a dead letter.
void log_dead_job(const DeadJob& job);

}  // namespace pawl::queue
