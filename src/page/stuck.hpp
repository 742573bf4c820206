#pragma once

#include "src/page/asked.hpp"
#include "src/page/html.hpp"

#include <boost/json/value.hpp>

namespace pawl::page {

// The requests that do not go on by themselves: the completer keeps failing at them, or this
// program does not know their recovery point. Oldest first.
boost::json::value read_stuck(const Asked& asked);
Html show_stuck(const Asked& asked, const boost::json::value& data);

// The results of calls that wait to be recorded, by error.
boost::json::value read_unrecorded(const Asked& asked);
Html show_unrecorded(const Asked& asked, const boost::json::value& data);

}  // namespace pawl::page
