#include "src/page/work_acts.hpp"

#include "src/cli/jobs.hpp"
#include "src/cli/queues.hpp"
#include "src/page/parts.hpp"
#include "src/page/printed.hpp"
#include "src/page/redact.hpp"
#include "src/page/work_views.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <ostream>
#include <utility>

namespace pawl::page {

namespace {

constexpr int shown_max = 20;

cli::PauseRequest pause_of(const Asked& asked) {
    return {.queue = asked.id, .by = asked.who.name, .reason = asked.fields.text_or("reason", "")};
}

cli::JobOptions job_of(const Asked& asked, const std::string& verb) {
    cli::JobOptions options;
    options.ids = {asked.id};
    options.act = {.by = asked.who.name, .reason = asked.fields.text_or("reason", "")};
    cli::check_job_act(options, verb);
    return options;
}

using DeadCommand = bool (*)(Service&, const cli::DeadOptions&, bool, std::ostream&, std::ostream&);

boost::json::value run_dead(
    const Asked& asked, const cli::DeadOptions& options, DeadCommand command
) {
    std::ostream nobody{nullptr};
    return printed([&](std::ostream& out) {
        (void)command(asked.service, options, true, out, nobody);
    });
}

Html plan_of(const Asked& asked, const boost::json::value& chosen, const std::string& verb) {
    return {
        element("p", "Nothing is done yet. These match (the first 20):"),
        table("Dead letters", chosen, {{"id died_at queue kind error"}}, "No dead letter matches."),
        act_form(
            asked,
            {.path = "/dead/" + verb,
             .button = verb == "merge" ? "Put them back" : "Remove them for good",
             .hidden = confirmed_fields(asked),
             .danger = true}
        ),
        element("p", link("/dead", "Back, without a change"))};
}

Done act_on_dead(const Asked& asked, const std::string& verb, DeadCommand command) {
    auto options = dead_options_of(asked);
    options.sample.reset();
    options.after.clear();
    options.act = {.by = asked.who.name, .reason = asked.fields.text_or("reason", "")};
    if (const auto id = asked.fields.text("id")) options.ids = {*id};
    const auto& filter = options.filter;
    options.all = options.ids.empty() && !filter.queue && !filter.kind && !filter.error_kind &&
                  !filter.error && !filter.failures_min;
    options.dry_run = asked.fields.text("confirmed") != "yes";
    if (options.dry_run) options.limit = shown_max;
    cli::check_dead_act(options, verb);
    auto data = run_dead(asked, options, command);
    if (options.dry_run) {
        data = redact(std::move(data));
        auto shown = plan_of(asked, data, verb);
        return {.data = std::move(data), .message = {}, .next = {}, .shown = std::move(shown)};
    }
    auto message = text_of(data.at("done")) + (verb == "merge" ? " put back" : " removed");
    const auto forgotten = text_of(data.at("forgotten"));
    if (forgotten != "0")
        message += "; " + forgotten +
                   " left, because the receiver of their call may have forgotten its key: "
                   "`dlq merge --even-if-forgotten`";
    return {.data = std::move(data), .message = std::move(message), .next = "/dead"};
}

}  // namespace

Done pause_queue(const Asked& asked) {
    if (!asked.fields.has("reason")) throw Refused{400, "reason is missing: it is for the audit"};
    auto data = printed([&](std::ostream& out) {
        cli::pause_queue(asked.service, pause_of(asked), true, out);
    });
    return {
        .data = std::move(data),
        .message = "The queue " + asked.id + " is paused.",
        .next = "/queues"};
}

Done resume_queue(const Asked& asked) {
    auto data = printed([&](std::ostream& out) {
        cli::resume_queue(asked.service, pause_of(asked), true, out);
    });
    return {
        .data = std::move(data),
        .message = "The queue " + asked.id + " goes on.",
        .next = "/queues"};
}

Done retry_job(const Asked& asked) {
    auto data = printed([&](std::ostream& out) {
        cli::retry_jobs(asked.service, job_of(asked, "retry"), true, out);
    });
    return {.data = std::move(data), .message = "The job is due now.", .next = "/jobs"};
}

Done cancel_job(const Asked& asked) {
    auto data = printed([&](std::ostream& out) {
        cli::cancel_jobs(asked.service, job_of(asked, "cancel"), true, out);
    });
    return {.data = std::move(data), .message = "The job is a dead letter now.", .next = "/dead"};
}

Done merge_dead(const Asked& asked) {
    return act_on_dead(asked, "merge", &cli::merge_dead);
}

Done purge_dead(const Asked& asked) {
    return act_on_dead(asked, "purge", &cli::purge_dead);
}

}  // namespace pawl::page
