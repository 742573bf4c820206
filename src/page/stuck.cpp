#include "src/page/stuck.hpp"

#include <pawl/detail/rows.hpp>
#include <pawl/json.hpp>

#include "src/cli/output.hpp"
#include "src/engine/engine.hpp"
#include "src/ops/stranded.hpp"
#include "src/page/parts.hpp"
#include "src/store/blocking.hpp"
#include "store/statements.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <string>
#include <utility>
#include <vector>

namespace pawl::page {

using boost::json::array;
using boost::json::object;
using boost::json::value;

namespace {

struct UnknownPoints {
    std::vector<ops::StrandedPoint> points;
};

// The columns of list_stuck_keys, in order.
struct StuckKey {
    std::int64_t id{};
    std::string created_at;
    std::string operation;
    std::string recovery_point;
    std::string status;
    int completer_runs{};
    std::optional<std::string> completer_next_at;
    std::optional<std::string> error;
};

object object_of(const cli::Line<StuckKey>& line, const engine::Engine& engine) {
    const auto& key = line.row;
    auto made = cli::object_of(line);
    made["why"] = engine.knows_point(key.operation, key.recovery_point) ? "stuck" : "stranded";
    return made;
}

}  // namespace

value read_stuck(const Asked& asked) {
    auto& engine = asked.service.engine();
    const auto limit = asked.fields.limit();
    array rows;
    store::read_now(engine.store(), [&](detail::Session& session) {
        const auto add = [&](const detail::Row& row) {
            const auto line = cli::line_of_row<StuckKey>(row, sql::list_stuck_keys.name);
            rows.push_back(object_of(line, engine));
        };
        const auto unknown = to_json(UnknownPoints{ops::stranded_points(session, engine)});
        detail::run_statement(session, sql::list_stuck_keys, add, unknown, limit);
    });
    return rows;
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
