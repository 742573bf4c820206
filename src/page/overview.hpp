#pragma once

#include "src/page/asked.hpp"
#include "src/page/html.hpp"

#include <boost/json/value.hpp>

namespace pawl::page {

// What a person on call looks at first: {"now": counts, "history": a sample for each minute}. The
// field `hours` says how far back, 1 to 336.
boost::json::value read_overview(const Asked& asked);
Html show_overview(const Asked& asked, const boost::json::value& data);

}  // namespace pawl::page
