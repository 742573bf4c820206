#include "src/cli/graph.hpp"

#include "src/cli/output.hpp"

#include <string>

namespace pawl::cli {

namespace {

std::string_view word_of(const detail::ErasedStep& step) {
    if (step.route != nullptr) return "routed";
    switch (step.again) {
        case Repeat::safe:
            return "safe";
        case Repeat::safe_with_key:
            return "safe_with_key";
        case Repeat::never:
            break;
    }
    return "never";
}

std::string results_of(const detail::ErasedStep& step) {
    std::string names;
    for (const auto& result : step.results)
        names += (names.empty() ? "" : ", ") + std::string{result.name};
    return names;
}

boost::json::object step_of(const detail::ErasedStep& step) {
    boost::json::array leads_to;
    for (const auto point : step.leads_to) leads_to.emplace_back(boost::json::string{point});
    boost::json::object made{
        {"from", boost::json::string{step.from}},
        {"kind", step.foreign ? "foreign" : "atomic"},
        {"leads_to", leads_to}};
    if (!step.foreign) return made;
    boost::json::array results;
    for (const auto& result : step.results) results.emplace_back(boost::json::string{result.name});
    made["repeat"] = boost::json::string{word_of(step)};
    if (step.inquire != nullptr) made["inquiry"] = true;
    made["results"] = results;
    return made;
}

}  // namespace

void print_graph(const detail::ErasedOperation& operation, bool json, std::ostream& out) {
    if (json) {
        boost::json::array steps;
        for (const auto& step : operation.steps) steps.push_back(step_of(step));
        return print_json(
            out,
            boost::json::object{
                {"operation", boost::json::string{operation.name}}, {"steps", steps}}
        );
    }
    out << "stateDiagram-v2\n    %% " << operation.name << "\n    [*] --> "
        << operation.steps.front().from << '\n';
    for (const auto& step : operation.steps) {
        std::string label = "one transaction";
        if (step.foreign)
            label = "call (" + std::string{word_of(step)} +
                    (step.inquire != nullptr ? ", asked if in doubt" : "") + "), then keep " +
                    results_of(step);
        for (const auto point : step.leads_to) {
            const auto to = point == "finished" ? std::string{"[*]"} : std::string{point};
            out << "    " << step.from << " --> " << to << ": " << label << '\n';
        }
    }
}

}  // namespace pawl::cli
