#include "src/ops/stranded.hpp"

#include <pawl/detail/rows.hpp>
#include <pawl/json.hpp>

#include "store/statements.hpp"

namespace pawl::ops {

namespace {

struct KnownPoint {
    std::string operation;
    std::string point;
};
struct KnownPoints {
    std::vector<KnownPoint> points;
};

}  // namespace

std::vector<StrandedPoint> stranded_points(store::Session& session, const engine::Engine& engine) {
    std::vector<StrandedPoint> stranded;
    detail::run_statement(session, sql::count_open_by_point, [&](const detail::Row& row) {
        if (!engine.knows_point(row.text(0), row.text(1)))
            stranded.push_back({std::string{row.text(0)}, std::string{row.text(1)}, row.integer(2)}
            );
    });
    return stranded;
}

std::string known_points(const engine::Engine& engine, Steps steps) {
    KnownPoints known;
    for (const auto* operation : engine.operations()) {
        const auto add = [&](std::string_view point, const detail::ErasedStep& step) {
            if (steps == Steps::all || !step.foreign)
                known.points.push_back({std::string{operation->name}, std::string{point}});
        };
        for (const auto& step : operation->steps) add(step.from, step);
        for (const auto& [old, step] : operation->renamed) add(old, operation->steps[step]);
    }
    return to_json(known);
}

}  // namespace pawl::ops
