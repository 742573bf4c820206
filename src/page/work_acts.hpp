#pragma once

#include "src/page/acts.hpp"

namespace pawl::page {

Done pause_queue(const Asked& asked);
Done resume_queue(const Asked& asked);
Done retry_job(const Asked& asked);
Done cancel_job(const Asked& asked);
// Of one dead letter (the field `id`), or of all that match the filter. Without the field
// `confirmed` they only show which.
Done merge_dead(const Asked& asked);
Done purge_dead(const Asked& asked);

}  // namespace pawl::page
