#include "src/queue/dead_job_log.hpp"

#include "src/base/log.hpp"

namespace pawl::queue {

void log_dead_job(const DeadJob& job) {
    log::limited_error(
        "job_dead",
        {{"jid", job.jid},
         {"kind", job.kind},
         {"queue", job.queue},
         {"failures", job.failures},
         {"detail", job.detail}}
    );
}

}  // namespace pawl::queue
