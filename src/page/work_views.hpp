#pragma once

#include "src/cli/dead_letters.hpp"
#include "src/page/asked.hpp"
#include "src/page/html.hpp"

#include <boost/json/value.hpp>

// The views of queues, jobs and dead letters; views.cpp has their paths.
namespace pawl::page {

boost::json::value read_queues(const Asked& asked);
Html show_queues(const Asked& asked, const boost::json::value& data);
boost::json::value read_jobs(const Asked& asked);
Html search_jobs(const Asked& asked);
Html show_jobs(const Asked& asked, const boost::json::value& data);
boost::json::value read_job(const Asked& asked);
Html show_job(const Asked& asked, const boost::json::value& data);
// {"groups": by error, "letters": a page or a sample}
boost::json::value read_dead(const Asked& asked);
Html search_dead(const Asked& asked);
Html show_dead(const Asked& asked, const boost::json::value& data);
boost::json::value read_dead_letter(const Asked& asked);
Html show_dead_letter(const Asked& asked, const boost::json::value& data);
// Not redacted; the caller writes that to the audit.
boost::json::value read_revealed_job(const Asked& asked);
boost::json::value read_revealed_dead_letter(const Asked& asked);

// The fields queue, kind, error_kind, error, failures_min and sample.
cli::DeadOptions dead_options_of(const Asked& asked);

}  // namespace pawl::page
