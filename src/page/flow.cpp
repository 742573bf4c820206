#include "src/page/flow.hpp"

#include <pawl/detail/rows.hpp>

#include "src/cli/graph.hpp"
#include "src/engine/engine.hpp"
#include "src/page/parts.hpp"
#include "src/page/printed.hpp"
#include "src/store/blocking.hpp"
#include "store/statements.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <map>
#include <string>
#include <utility>

namespace pawl::page {

using boost::json::array;
using boost::json::object;
using boost::json::value;

namespace {

using Counts = std::map<std::pair<std::string, std::string>, std::int64_t>;  // Operation, point.

Counts counts_of(Service& service) {
    return store::read_now(service.engine().store(), [](store::Session& session) {
        Counts found;
        detail::run_statement(session, sql::count_open_by_point, [&](const detail::Row& row) {
            found[{std::string{row.text(0)}, std::string{row.text(1)}}] = row.integer(2);
        });
        return found;
    });
}

std::string words_of(const value& names) {
    std::string text;
    for (const auto& name : names.get_array()) text += (text.empty() ? "" : ", ") + text_of(name);
    return text;
}

Html step_of(const object& step) {
    const auto count = text_of(step.at("keys"));
    Html text{
        element("strong", text_at(step, "from")),
        element("span", {{"class", count == "0" ? "count" : "count some"}}, count)};
    std::string what = "one transaction";
    if (text_at(step, "kind") == "foreign")
        what = "call (" + std::string{text_at(step, "repeat")} +
               "), results: " + words_of(step.at("results"));
    text += element("span", {{"class", "what"}}, what);
    text += element("span", {{"class", "leads"}}, "leads to " + words_of(step.at("leads_to")));
    return element("li", {{"class", std::string{text_at(step, "kind")}}}, text);
}

}  // namespace

value read_flow(const Asked& asked) {
    auto counts = counts_of(asked.service);
    array operations;
    for (const auto* operation : asked.service.engine().operations()) {
        auto graph = printed([&](std::ostream& out) { cli::print_graph(*operation, true, out); });
        for (auto& step : graph.at("steps").get_array()) {
            const auto found = counts.find(
                {std::string{operation->name}, std::string{text_at(step.get_object(), "from")}}
            );
            step.get_object()["keys"] = found == counts.end() ? 0 : found->second;
            if (found != counts.end()) counts.erase(found);
        }
        operations.push_back(std::move(graph));
    }
    array others;
    for (const auto& [where, keys] : counts)
        others.push_back(object{
            {"operation", where.first}, {"recovery_point", where.second}, {"keys", keys}});
    return object{{"operations", operations}, {"other_points", others}};
}

Html show_flow(const Asked&, const value& data) {
    Html made;
    for (const auto& operation : data.at("operations").get_array()) {
        Html steps;
        for (const auto& step : operation.at("steps").get_array())
            steps += step_of(step.get_object());
        steps += element("li", {{"class", "end"}}, element("strong", "finished"));
        made +=
            section(text_of(operation.at("operation")), element("ol", {{"class", "flow"}}, steps));
    }
    const auto others = table(
        "Other points",
        data.at("other_points"),
        {{"operation recovery_point keys"}},
        "Every open request is at a point that this program knows."
    );
    made += section("At old or unknown points", others);
    return made;
}

}  // namespace pawl::page
