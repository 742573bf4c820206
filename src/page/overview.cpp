#include "src/page/overview.hpp"

#include <pawl/detail/rows.hpp>
#include <pawl/json.hpp>

#include "src/base/time_text.hpp"
#include "src/cli/top/snapshot.hpp"
#include "src/engine/engine.hpp"
#include "src/page/parts.hpp"
#include "src/page/plot.hpp"
#include "src/page/samples.hpp"
#include "src/store/blocking.hpp"
#include "store/statements.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pawl::page {

using boost::json::array;
using boost::json::object;
using boost::json::value;

namespace {

constexpr std::int64_t hours_max = 336;        // As long as samples are kept.
constexpr std::int64_t samples_max = 100'000;  // Five servers for two weeks.
constexpr std::size_t points_max = 1'500;      // Of a plot: those of a day.

std::chrono::hours hours_of(const Asked& asked) {
    const auto hours = asked.fields.number("hours").value_or(24);
    if (hours < 1 || hours > hours_max) throw Refused{400, "hours is 1 to 336"};
    return std::chrono::hours{hours};
}

object counts_of(store::Session& session, const engine::Engine& engine) {
    const auto keys = cli::count_keys(session, &engine);
    const auto sum_of = [&](const Sql& statement, int column) {
        std::int64_t sum = 0;
        detail::run_statement(session, statement, [&](const detail::Row& row) {
            sum += row.integer(column);
        });
        return sum;
    };
    return {
        {"open", keys.open},
        {"stuck", keys.stuck},
        {"unrecorded", keys.unrecorded},
        {"oldest_open", cli::json_of(cli::text_of_time(keys.oldest_open))},
        {"stranded", cli::json_of(keys.stranded)},
        {"attention", keys.in_doubt()},
        {"jobs", sum_of(sql::count_jobs, 2)},
        {"staged_jobs", sum_of(sql::count_staged_jobs, 1)},
        {"dead_letters", sum_of(sql::count_dead_jobs, 1)}};
}

// A sample that does not decode was written by another version: it is left out.
void read_samples(store::Session& session, TimePoint since, std::vector<StoredSample>& to) {
    const auto add = [&](const detail::Row& row) {
        const auto decoded = from_json<Sample>(row.text(1), Unknown::ignored);
        if (decoded) to.push_back({detail::column_as<TimePoint>(row, 0, "samples"), *decoded});
    };
    detail::run_statement(session, sql::list_samples, add, since, samples_max);
}

object object_of(const StoredSample& one) {
    return {
        {"at", base::time_text(one.at)},
        {"requests", one.sample.requests},
        {"failed", one.sample.failed},
        {"p95_ms", one.sample.p95_ms},
        {"open", one.sample.open},
        {"oldest_s", one.sample.oldest_s},
        {"attention", one.sample.attention},
        {"jobs", one.sample.jobs},
        {"dead", one.sample.dead}};
}

// A number with where it is explained; `bad`: a person has something to do.
Html tile(const object& now, std::string_view field, std::string_view href, bool bad) {
    const auto& found = now.at(field);
    const auto number = text_of(found);
    const bool alarm = bad && number != "0" && number != "-";
    return element(
        "a",
        {{"class", alarm ? "tile bad" : "tile"}, {"href", std::string{href}}},
        {element("span", {{"class", "number"}}, number), " ", element("span", label_of(field))}
    );
}

std::vector<PlotPoint> points_of(const array& history, std::string_view field) {
    const auto each = std::max<std::size_t>((history.size() + points_max - 1) / points_max, 1);
    std::vector<PlotPoint> points;
    for (std::size_t i = 0; i < history.size(); ++i) {
        const auto& row = history[i].get_object();
        const auto at = base::time_from_text(text_at(row, "at"));
        const auto now = row.at(field).to_number<std::int64_t>();
        if (!at) continue;
        // Several minutes become one point with their largest value, so that no peak is lost.
        if (i % each == 0) points.push_back({*at, now});
        points.back().value = std::max(points.back().value, now);
    }
    return points;
}

}  // namespace

value read_overview(const Asked& asked) {
    const auto back = hours_of(asked);
    auto& engine = asked.service.engine();
    TimePoint until{};
    object now;
    std::vector<StoredSample> samples;
    store::read_now(engine.store(), [&](store::Session& session) {
        until = session.now();
        now = counts_of(session, engine);
        read_samples(session, until - back, samples);
    });
    const auto providers = cli::read_providers(asked.service);
    now["providers_down"] =
        std::ranges::count_if(providers, [](const auto& line) { return line.row.down_at > 0; });
    now["servers"] = cli::read_servers(asked.service).size();
    array history;
    for (const auto& minute : by_minute(samples)) history.push_back(object_of(minute));
    return object{
        {"at", base::time_text(until)},
        {"hours", back.count()},
        {"now", now},
        {"history", history}};
}

Html show_overview(const Asked& asked, const value& data) {
    const auto& now = data.at("now").get_object();
    const auto tiles = element(
        "div",
        {{"class", "tiles"}},
        {tile(now, "attention", "/attention", true),
         tile(now, "stranded", "/stuck", true),
         tile(now, "stuck", "/stuck", true),
         tile(now, "unrecorded", "/unrecorded", true),
         tile(now, "dead_letters", "/dead", true),
         tile(now, "providers_down", "/providers", true),
         tile(now, "open", "/keys?state=open", false),
         tile(now, "jobs", "/queues", false),
         tile(now, "staged_jobs", "/queues", false),
         tile(now, "servers", "/servers", false)}
    );
    const auto until = base::time_from_text(text_at(data.get_object(), "at")).value_or(TimePoint{});
    const auto since = until - hours_of(asked);
    Html plots;
    const auto& history = data.at("history").get_array();
    for (const auto& [field, name] : std::initializer_list<std::pair<const char*, const char*>>{
             {"requests", "Requests a minute"},
             {"failed", "Requests without an answer, a minute"},
             {"p95_ms", "Time of 95 % of the requests, at most, in ms"},
             {"oldest_s", "Age of the oldest unsettled request, in s"},
             {"open", "Unsettled requests"},
             {"attention", "Attention"},
             {"jobs", "Jobs"},
             {"dead", "Dead letters"}})
        plots += plot(name, points_of(history, field), since, until);
    Html hours;
    for (const auto* one : {"1", "6", "24", "168", "336"})
        hours += element("li", link(std::string{"/?hours="} + one, std::string{one} + " h"));
    const auto oldest = now.at("oldest_open");
    return {
        tiles,
        oldest.is_null()
            ? Html{}
            : element("p", "The oldest unsettled request is of " + text_of(oldest) + "."),
        section(
            "History",
            {element("ul", {{"class", "hours"}}, hours),
             element("div", {{"class", "plots"}}, plots)}
        )};
}

}  // namespace pawl::page
