#pragma once

#include "src/cli/key_selector.hpp"
#include "src/page/asked.hpp"
#include "src/page/html.hpp"

#include <boost/json/value.hpp>

// The views of keys and of the attention list; views.cpp has their paths.
namespace pawl::page {

// Of the id in the path. Throws Refused.
cli::KeySelector key_of(const Asked& asked);

boost::json::value read_keys(const Asked& asked);
Html search_keys(const Asked& asked);
Html show_keys(const Asked& asked, const boost::json::value& data);
// The key, or what is left of an expired one, and its time line.
boost::json::value read_key(const Asked& asked);
Html show_key(const Asked& asked, const boost::json::value& data);
boost::json::value read_attention(const Asked& asked);
Html show_attention(const Asked& asked, const boost::json::value& data);
boost::json::value read_entry(const Asked& asked);
Html show_entry(const Asked& asked, const boost::json::value& data);
// Not redacted; the caller writes that to the audit.
boost::json::value read_revealed_key(const Asked& asked);
boost::json::value read_revealed_entry(const Asked& asked);

}  // namespace pawl::page
