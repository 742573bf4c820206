#include "src/page/work_views.hpp"

#include "src/cli/jobs.hpp"
#include "src/cli/queues.hpp"
#include "src/page/parts.hpp"
#include "src/page/printed.hpp"
#include "src/page/redact.hpp"

#include <boost/json/object.hpp>

#include <utility>

namespace pawl::page {

using boost::json::object;
using boost::json::value;

namespace {

cli::JobOptions job_options_of(const Asked& asked) {
    cli::JobOptions options;
    options.filter.queue = asked.fields.text("queue");
    options.filter.kind = asked.fields.text("kind");
    options.filter.state = asked.fields.text("state");
    options.filter.error = asked.fields.text("error");
    options.filter.key_id = asked.fields.number("key_id");
    options.after = asked.fields.text_or("after", "");
    options.limit = asked.fields.limit();
    return options;
}

Html pause_form(const Asked& asked, const object& row) {
    if (!asked.may(Role::operating)) return {};
    const auto queue = std::string{text_at(row, "queue")};
    if (!row.at("paused_since").is_null())
        return act_form(
            asked,
            {.path = "/queues/" + queue + "/resume",
             .button = "Resume",
             .fields = {{.name = "reason", .label = "Reason"}}}
        );
    return act_form(
        asked,
        {.path = "/queues/" + queue + "/pause", .button = "Pause", .fields = {reason_field()}}
    );
}

Column link_to(std::string_view field, std::string path) {
    return {field, [field, path = std::move(path)](const object& row) {
                const auto id = text_of(row.at(field));
                return link(path + id, id);
            }};
}

Column key_column(std::string_view field) {
    return {field, [field](const object& row) { return key_link(row, field); }};
}

Html group_link(const object& row) {
    return link(
        "/dead?" + json::canonical(
                       {{"error_kind", std::string{text_at(row, "error_kind")}},
                        {"kind", std::string{text_at(row, "kind")}},
                        {"queue", std::string{text_at(row, "queue")}}}
                   ),
        text_of(row.at("count"))
    );
}

Html dead_acts(const Asked& asked) {
    if (!asked.may(Role::operating)) return {};
    auto hidden = asked.fields.pairs();
    std::erase_if(hidden, [](const json::Pair& pair) {
        return pair.name == "limit" || pair.name == "after" || pair.name == "sample";
    });
    Html made = act_form(
        asked,
        {.path = "/dead/merge",
         .button = "Put all that match back",
         .fields = {reason_field()},
         .hidden = hidden}
    );
    if (asked.may(Role::admin))
        made += act_form(
            asked,
            {.path = "/dead/purge",
             .button = "Remove all that match",
             .fields = {reason_field()},
             .hidden = hidden,
             .danger = true}
        );
    return section("Act on the dead letters that match", made);
}

}  // namespace

value read_queues(const Asked& asked) {
    return printed([&](std::ostream& out) { cli::list_queues(asked.service, true, out); });
}

Html show_queues(const Asked& asked, const value& data) {
    return table(
        "Queues",
        data,
        {{"queue",
          [](const object& row) {
              const std::string queue{text_at(row, "queue")};
              return link("/jobs?" + json::canonical({{"queue", queue}}), queue);
          }},
         {"where ready running retrying later staged dead oldest running_max rate paused_since "
          "paused_by reason"},
         {"act", [&asked](const object& row) { return pause_form(asked, row); }}},
        "No queue has a job or limits, and none is paused."
    );
}

value read_jobs(const Asked& asked) {
    return redact(printed([&](std::ostream& out) {
        cli::list_jobs(asked.service, job_options_of(asked), true, out);
    }));
}

Html search_jobs(const Asked& asked) {
    const auto given = [&](std::string_view name) { return asked.fields.text_or(name, ""); };
    return search_form(
        "/jobs",
        {{.name = "queue", .label = "Queue", .value = given("queue")},
         {.name = "kind", .label = "Kind", .value = given("kind")},
         {.name = "state",
          .label = "State",
          .value = given("state"),
          .type = "select",
          .options = {"", "ready", "running", "retrying"}},
         {.name = "error", .label = "Error has", .value = given("error")}}
    );
}

Html show_jobs(const Asked& asked, const value& data) {
    return {
        search_jobs(asked),
        table(
            "Jobs",
            data,
            {link_to("id", "/jobs/"),
             {"state run_at queue kind failures"},
             key_column("key_id"),
             key_column("request"),
             {"request_state error"}},
            "No job matches."
        ),
        next_page(asked, data, "/jobs", "after")};
}

value read_revealed_job(const Asked& asked) {
    return printed([&](std::ostream& out) {
        cli::show_job(asked.service, cli::JobOptions{}, asked.id, true, out);
    });
}

value read_job(const Asked& asked) {
    return redact(read_revealed_job(asked));
}

Html show_job(const Asked& asked, const value& data) {
    Html made = facts(data.get_object());
    if (!asked.may(Role::operating)) return made;
    const auto path = "/jobs/" + asked.id;
    made += reveal_form(asked, path);
    made += act_form(
        asked, {.path = path + "/retry", .button = "Try it now", .fields = {reason_field()}}
    );
    made += act_form(
        asked,
        {.path = path + "/cancel",
         .button = "Cancel it",
         .fields = {reason_field()},
         .danger = true}
    );
    return made;
}

cli::DeadOptions dead_options_of(const Asked& asked) {
    cli::DeadOptions options;
    options.filter.queue = asked.fields.text("queue");
    options.filter.kind = asked.fields.text("kind");
    options.filter.error_kind = asked.fields.text("error_kind");
    options.filter.error = asked.fields.text("error");
    const auto number = [&](std::string_view name) -> std::optional<int> {
        const auto given = asked.fields.number(name);
        if (!given) return std::nullopt;
        if (*given > 10'000) throw Refused{400, std::string{name} + " is at most 10000"};
        return static_cast<int>(*given);
    };
    options.filter.failures_min = number("failures_min");
    options.sample = number("sample");
    options.after = asked.fields.text_or("after", "");
    options.limit = asked.fields.limit();
    return options;
}

value read_dead(const Asked& asked) {
    auto options = dead_options_of(asked);
    const auto list = [&](std::ostream& out) { cli::list_dead(asked.service, options, true, out); };
    const auto letters = redact(printed(list));
    options.by_error = true;
    return object{{"groups", printed(list)}, {"letters", letters}};
}

Html search_dead(const Asked& asked) {
    const auto given = [&](std::string_view name) { return asked.fields.text_or(name, ""); };
    return search_form(
        "/dead",
        {{.name = "queue", .label = "Queue", .value = given("queue")},
         {.name = "kind", .label = "Kind", .value = given("kind")},
         {.name = "error_kind", .label = "Kind of error", .value = given("error_kind")},
         {.name = "error", .label = "Error has", .value = given("error")},
         {.name = "sample",
          .label = "Only a sample of",
          .value = given("sample"),
          .type = "number"}}
    );
}

Html show_dead(const Asked& asked, const value& data) {
    const auto groups = table(
        "Dead letters by error",
        data.at("groups"),
        {{"count", &group_link},
         {"queue kind error_kind first_died_at last_died_at"},
         link_to("sample", "/dead/")},
        "No dead letter matches."
    );
    const auto letters = table(
        "Dead letters",
        data.at("letters"),
        {link_to("id", "/dead/"),
         {"died_at queue kind failures"},
         key_column("request"),
         {"request_state error"}},
        "No dead letter matches."
    );
    return {
        search_dead(asked),
        section("By error", groups),
        section("Dead letters", {letters, next_page(asked, data.at("letters"), "/dead", "after")}),
        dead_acts(asked)};
}

value read_revealed_dead_letter(const Asked& asked) {
    return printed([&](std::ostream& out) {
        cli::show_dead(asked.service, cli::DeadOptions{}, asked.id, true, out);
    });
}

value read_dead_letter(const Asked& asked) {
    return redact(read_revealed_dead_letter(asked));
}

Html show_dead_letter(const Asked& asked, const value& data) {
    Html made = facts(data.get_object());
    if (!asked.may(Role::operating)) return made;
    made += reveal_form(asked, "/dead/" + asked.id);
    made += act_form(
        asked,
        {.path = "/dead/merge",
         .button = "Put it back",
         .fields = {reason_field()},
         .hidden = {{"id", asked.id}}}
    );
    if (asked.may(Role::admin))
        made += act_form(
            asked,
            {.path = "/dead/purge",
             .button = "Remove it",
             .fields = {reason_field()},
             .hidden = {{"id", asked.id}},
             .danger = true}
        );
    return made;
}

}  // namespace pawl::page
