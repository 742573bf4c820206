#include "src/cli/stuck.hpp"

#include <pawl/detail/rows.hpp>
#include <pawl/json.hpp>

#include "src/cli/output.hpp"
#include "src/cli/read_rows.hpp"
#include "src/engine/engine.hpp"
#include "src/ops/stranded.hpp"
#include "src/store/blocking.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pawl::cli {

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

struct StuckLine {
    std::int64_t id{};
    std::string why;
    std::string created_at;
    std::string operation;
    std::string recovery_point;
    std::string status;
    int completer_runs{};
    std::optional<std::string> completer_next_at;
    std::optional<std::string> error;
};

// The columns of count_unrecorded_results, in order.
struct UnrecordedLine {
    std::int64_t results{};
    std::string operation;
    std::string recovery_point;
    std::string since;
    int tries{};
    std::int64_t sample{};
    std::string error;
};

bool is_at(const UnknownPoints& unknown, const StuckKey& key) {
    return std::ranges::any_of(unknown.points, [&](const auto& at) {
        return at.operation == key.operation && at.point == key.recovery_point;
    });
}

Line<StuckLine> line_of(const Line<StuckKey>& found, const UnknownPoints& unknown) {
    const auto& key = found.row;
    return {
        {key.id,
         is_at(unknown, key) ? "stranded" : "stuck",
         key.created_at,
         key.operation,
         key.recovery_point,
         key.status,
         key.completer_runs,
         key.completer_next_at,
         key.error},
        found.damage};
}

}  // namespace

void list_stuck_keys(
    Service& service, ShowStranded stranded, int limit, bool json, std::ostream& out
) {
    auto& engine = service.engine();
    std::vector<Line<StuckLine>> lines;
    store::read_now(engine.store(), [&](store::Session& session) {
        lines.clear();
        UnknownPoints unknown;
        if (stranded == ShowStranded::yes) unknown.points = ops::stranded_points(session, engine);
        const auto add = [&](const detail::Row& row) {
            lines.push_back(line_of(line_of_row<StuckKey>(row, sql::list_stuck_keys.name), unknown)
            );
        };
        detail::run_statement(session, sql::list_stuck_keys, add, to_json(unknown), limit);
    });
    print_rows(out, lines, json, "No request is stuck, and none is stranded.");
    if (!json && std::cmp_greater_equal(lines.size(), limit))
        out << "Only the oldest " << limit << " are shown: --limit\n";
}

void list_unrecorded_results(Service& service, int limit, bool json, std::ostream& out) {
    const auto lines = read<UnrecordedLine>(service, sql::count_unrecorded_results, limit);
    print_rows(out, lines, json, "No result waits to be recorded.");
    std::int64_t all = 0;
    for (const auto& line : lines) all += line.row.results;
    if (!json && all > 0)
        out << all << (all == 1 ? " result waits" : " results wait")
            << " to be recorded: their calls are made, and each is tried again by itself, at once "
               "when a corrected server starts.\n";
}

}  // namespace pawl::cli
