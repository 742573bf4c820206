#include "src/page/stuck.hpp"

#include "src/cli/stuck.hpp"
#include "src/page/parts.hpp"
#include "src/page/printed.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <string>
#include <utility>

namespace pawl::page {

using boost::json::object;
using boost::json::value;

value read_stuck(const Asked& asked) {
    const auto limit = asked.fields.limit();
    return printed([&](std::ostream& out) {
        cli::list_stuck_keys(asked.service, cli::ShowStranded::yes, limit, true, out);
    });
}

Html show_stuck(const Asked& asked, const value& data) {
    const auto limit = asked.fields.limit();
    const bool full = !std::cmp_less(data.get_array().size(), limit);
    return {
        element(
            "p",
            "Stuck: the completer has failed three times or more. Stranded: this program does not "
            "know the recovery point, so that the request waits for its release."
        ),
        table(
            "Stuck and stranded requests",
            data,
            {{"id", [](const object& row) { return key_link(row); }},
             {"why"},
             {"operation"},
             {"recovery_point"},
             {"completer_runs"},
             {"completer_next_at"},
             {"error"}},
            "No request is stuck, and none is stranded."
        ),
        full ? element("p", "Only the oldest " + std::to_string(limit) + " are shown.") : Html{}};
}

}  // namespace pawl::page
