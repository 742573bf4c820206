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

value read_unrecorded(const Asked& asked) {
    return printed([&](std::ostream& out) {
        cli::list_unrecorded_results(asked.service, asked.fields.limit(), true, out);
    });
}

Html show_unrecorded(const Asked&, const value& data) {
    std::int64_t all = 0;
    for (const auto& line : data.get_array()) all += line.at("results").as_int64();
    return {
        element(
            "p",
            std::to_string(all) + (all == 1 ? " result waits" : " results wait") +
                " to be recorded. The calls are made, and nobody needs to decide anything: each is "
                "tried again by itself, at once when a corrected server starts."
        ),
        table(
            "Results that wait, by error",
            data,
            {{"results operation recovery_point since tries error"},
             {"sample",
              [](const object& row) {
                  const auto id = std::to_string(row.at("sample").as_int64());
                  return link("/keys/" + id, id);
              }}},
            "No result waits to be recorded."
        )};
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
             {"why operation recovery_point completer_runs completer_next_at error"}},
            "No request is stuck, and none is stranded."
        ),
        full ? element("p", "Only the oldest " + std::to_string(limit) + " are shown.") : Html{}};
}

}  // namespace pawl::page
