#include "src/cli/dead_letters.hpp"

#include "src/base/time_text.hpp"
#include "src/cli/job_request.hpp"
#include "src/cli/output.hpp"
#include "src/engine/engine.hpp"
#include "src/ops/job_requests.hpp"
#include "src/ops/service_impl.hpp"

#include <boost/json/serialize.hpp>

#include <chrono>
#include <utility>

namespace pawl::cli {

namespace {

using queue::DeadLetter;
using Text = std::optional<std::string>;

struct DeadLine {
    std::string id;
    std::string died_at;
    std::string queue;
    std::string kind;
    int failures{};
    std::optional<std::int64_t> request;
    Text request_state;
    std::string error;
};

struct DeadDetail {
    std::string id;
    std::string jid;
    std::string queue;
    std::string kind;
    Json args;
    int failures{};
    std::string error;
    std::string error_kind;
    Text called_at;
    std::optional<std::int64_t> key_id;
    std::optional<std::int64_t> request;
    Text request_state;
    std::string created_at;
    Text first_failed_at;
    Text last_failed_at;
    std::string died_at;
    Json history;
};

struct GroupLine {
    std::int64_t count{};
    std::string queue;
    std::string kind;
    std::string first_died_at;
    std::string last_died_at;
    std::string sample;
    std::string error_kind;
};

struct BatchOutcome {
    std::int64_t chosen{};
    std::int64_t done{};
    std::int64_t gone{};
    std::int64_t forgotten{};
    std::int64_t held{};
    std::int64_t at_work{};
};

Line<DeadLine> line_of(const DeadLetter& letter) {
    return {
        {letter.id,
         base::time_text(letter.died_at),
         letter.queue,
         letter.kind,
         letter.failures,
         request_id(letter.request),
         request_state(letter.request),
         letter.error},
        letter.damaged};
}

Line<DeadDetail> detail_of(const DeadLetter& letter) {
    DeadDetail shown{
        letter.id,
        letter.jid,
        letter.queue,
        letter.kind,
        Json{letter.args},
        letter.failures,
        letter.error,
        letter.error_kind,
        text_of_time(letter.called_at),
        letter.key_id,
        request_id(letter.request),
        request_state(letter.request),
        base::time_text(letter.created_at),
        text_of_time(letter.first_failed_at),
        text_of_time(letter.last_failed_at),
        base::time_text(letter.died_at),
        Json{letter.history}};
    return {std::move(shown), letter.damaged};
}

ops::RequestsOfDeadLetters letters_of(Service& service, const DeadOptions& options) {
    auto& impl = service.impl();
    queue::DeadLetters& letters =
        options.in_database ? impl.dead_letters_of_database : *impl.queue.dead_letters;
    return {service.engine().store(), letters};
}

ops::DeadLetterChoice choice_of(Service& service, const DeadOptions& options) {
    ops::DeadLetterChoice choice{options.ids, options.filter, options.sample};
    const auto now = service.engine().clock().now();
    if (options.older_than_s)
        choice.filter.died_before = now - std::chrono::seconds{*options.older_than_s};
    if (options.younger_than_s)
        choice.filter.died_since = now - std::chrono::seconds{*options.younger_than_s};
    return choice;
}

ops::DeadLetterChoice choice_to_act_on(Service& service, const DeadOptions& options) {
    return ops::died_by(service.engine().clock().now(), choice_of(service, options));
}

bool has_choice(const DeadOptions& options) {
    const auto& filter = options.filter;
    return options.all || !options.ids.empty() || filter.queue || filter.kind ||
           filter.error_kind || filter.error || filter.failures_min || options.older_than_s ||
           options.younger_than_s;
}

std::vector<GroupLine> groups_of(
    queue::DeadLetters& letters, const queue::DeadLetterFilter& filter
) {
    std::vector<GroupLine> lines;
    for (const auto& group : letters.groups(filter))
        lines.push_back(
            {group.count,
             group.queue,
             group.kind,
             base::time_text(group.first_died_at),
             base::time_text(group.last_died_at),
             group.sample,
             group.error_kind}
        );
    return lines;
}

// Shows the jobs of a purge or merge, without running it.
void print_dry_run(Service& service, const DeadOptions& options, bool json, std::ostream& out) {
    auto letters = letters_of(service, options);
    std::vector<Line<DeadLine>> lines;
    std::int64_t chosen = 0;
    ops::each_dead_letter(
        letters,
        choice_to_act_on(service, options),
        service.engine().random(),
        [&](const DeadLetter& letter) {
            ++chosen;
            if (std::ssize(lines) < options.limit) lines.push_back(line_of(letter));
        }
    );
    print_rows(out, lines, json, "No dead letter matches.");
    if (!json) print_choice(out, chosen, std::ssize(lines), "job");
}

ops::OnDeadLetterBatch print_progress_to(std::ostream& progress, const std::string& done) {
    return [&progress, done](const ops::DeadLetterReport& report) {
        if (report.chosen > ops::dead_letter_batch)
            progress << report.done << ' ' << done << " so far\n" << std::flush;
        return true;
    };
}

bool print_outcome(
    const ops::DeadLetterReport& report, const std::string& done, bool json, std::ostream& out
) {
    if (json) {
        const auto& r = report;
        print_row(
            out, BatchOutcome{r.chosen, r.done, r.gone, r.forgotten, r.held, r.at_work}, true
        );
    } else {
        out << report.done << ' ' << done;
        if (report.gone > 0) out << ", " << report.gone << " not found (done before?)";
        if (report.forgotten > 0)
            out << ", " << report.forgotten
                << " left: the receiver of their call may have forgotten its key, and would repeat "
                   "it. Check there first; then use --even-if-forgotten";
        if (report.at_work > 0)
            out << ", " << report.at_work
                << " left: an attempt works on their requests, which are on hold from its end on. "
                   "Run this again after that";
        out << ".\n";
        if (report.held > 0)
            out << report.held
                << " of them are operations: their requests are on hold now, and nobody goes on "
                   "with them. `keys release` ends a hold; `attention add` and `attention settle "
                   "--as "
                   "give-up` end the request.\n";
    }
    return report.forgotten == 0 && report.at_work == 0 && (report.gone == 0 || report.done > 0);
}

struct Asked {
    Service& service;
    const DeadOptions& options;
    bool json;
    std::ostream& out;
    std::ostream& progress;
};
struct Verb {
    std::string now;
    std::string done;
};

// Runs a purge or a merge.
template <class Step>
bool carry_out(const Asked& asked, const Verb& verb, const Step& step) {
    const auto& [service, options, json, out, progress] = asked;
    if (options.dry_run) {
        print_dry_run(service, options, json, out);
        return true;
    }
    const auto report =
        step(choice_to_act_on(service, options), print_progress_to(progress, verb.done));
    return print_outcome(report, verb.done, json, out);
}

}  // namespace

void check_dead_act(const DeadOptions& options, const std::string& verb) {
    if (!has_choice(options))
        throw UsageError{
            "no dead letters chosen: give ids, a filter such as --kind or --older-than, or --all. "
            "`dlq list --by-error` lists them by error"};
    if (options.act.reason.empty() && !options.dry_run)
        throw UsageError{
            "--reason is missing: it is recorded in the audit of every job that you " + verb};
}

void list_dead(Service& service, const DeadOptions& options, bool json, std::ostream& out) {
    auto letters = letters_of(service, options);
    const auto choice = choice_of(service, options);
    constexpr std::string_view none = "No dead letter matches.";
    if (options.by_error) return print_rows(out, groups_of(letters, choice.filter), json, none);
    std::vector<Line<DeadLine>> lines;
    if (choice.sample) {
        ops::each_dead_letter(
            letters,
            choice,
            service.engine().random(),
            [&](const DeadLetter& letter) { lines.push_back(line_of(letter)); }
        );
        return print_rows(out, lines, json, none);
    }
    for (const auto& letter : letters.page(choice.filter, options.after, options.limit))
        lines.push_back(line_of(letter));
    print_rows(out, lines, json, none);
    if (!json && std::ssize(lines) == options.limit)
        out << "There may be more: --after " << lines.back().row.id << '\n';
}

void show_dead(
    Service& service,
    const DeadOptions& options,
    const std::string& id,
    bool json,
    std::ostream& out
) {
    auto letters = letters_of(service, options);
    const auto letter = letters.find(id);
    if (!letter)
        throw CommandFailed{
            "there is no dead letter " + id + "; it may have been merged or purged"};
    print_row(out, detail_of(*letter), json);
}

void export_dead(Service& service, const DeadOptions& options, std::ostream& out) {
    auto letters = letters_of(service, options);
    ops::each_dead_letter(
        letters,
        choice_of(service, options),
        service.engine().random(),
        [&](const DeadLetter& letter) {
            out << boost::json::serialize(object_of(detail_of(letter), std::string::npos)) << '\n';
        }
    );
    if (!out.flush()) throw CommandFailed{"the export could not be written: is the disk full?"};
}

bool purge_dead(
    Service& service,
    const DeadOptions& options,
    bool json,
    std::ostream& out,
    std::ostream& progress
) {
    const auto purge = [&](const ops::DeadLetterChoice& choice,
                           const ops::OnDeadLetterBatch& on_batch) {
        auto letters = letters_of(service, options);
        return ops::purge_dead_letters(
            letters, choice, options.act, service.engine().random(), on_batch
        );
    };
    return carry_out({service, options, json, out, progress}, {"purge", "purged"}, purge);
}

bool merge_dead(
    Service& service,
    const DeadOptions& options,
    bool json,
    std::ostream& out,
    std::ostream& progress
) {
    std::optional<TimePoint> remembered_since;
    if (!options.even_if_forgotten)
        remembered_since =
            service.engine().clock().now() - ops::WorkerOptions{}.provider_key_lifetime;
    const auto merge = [&](const ops::DeadLetterChoice& choice,
                           const ops::OnDeadLetterBatch& on_batch) {
        auto letters = letters_of(service, options);
        return ops::merge_dead_letters(
            letters, choice, options.act, remembered_since, service.engine().random(), on_batch
        );
    };
    return carry_out({service, options, json, out, progress}, {"merge", "merged"}, merge);
}

}  // namespace pawl::cli
