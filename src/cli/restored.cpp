#include "src/cli/restored.hpp"

#include "src/base/clock.hpp"
#include "src/base/time_text.hpp"
#include "src/cli/numbers.hpp"
#include "src/cli/output.hpp"
#include "src/engine/engine.hpp"
#include "src/ops/marker.hpp"
#include "src/store/blocking.hpp"

#include <CLI/CLI.hpp>

#include <chrono>

namespace pawl::cli {

namespace {

struct Opened {
    int epoch{};
    std::string lost_since;
    std::string repeats_until;
};

ops::Restore restore_of(const RestoredOptions& options, TimePoint now) {
    const auto as_of = time_option("--as-of", options.as_of, now);
    const auto until =
        options.lost_until ? time_option("--lost-until", *options.lost_until, now) : now;
    if (as_of > now)
        throw CommandFailed{
            "--as-of is " + options.as_of + ": later than now, " + base::time_text(now)};
    if (until < as_of)
        throw UsageError{
            "--lost-until is " + *options.lost_until + ": earlier than --as-of, " + options.as_of};
    return {
        .lost_since = as_of,
        .keys_until = until + std::chrono::hours{options.repeats_for_h},
        .by = options.by,
        .detail = options.note};
}

}  // namespace

void add_restored_options(CLI::App& command, RestoredOptions& options) {
    static const CLI::Validator decimal{check_decimal, ""};
    command
        .add_option(
            "--as-of",
            options.as_of,
            "The time of the backup, or that it was recovered to: 2026-11-21T04:30:00Z, or 2h ago "
            "as 2h"
        )
        ->required();
    command.add_option(
        "--lost-until", options.lost_until, "When the lost database was last in use (now)"
    );
    command
        .add_option(
            "--repeats-for-h",
            options.repeats_for_h,
            "For how many hours after that clients may repeat lost requests"
        )
        ->check(decimal)
        ->check(CLI::Range(1, 8'760))
        ->capture_default_str();
    command.add_option("--note", options.note, "Which backup, and why, for the audit")->required();
    command.add_option("--by", options.by, "Who records it, for the audit")->capture_default_str();
}

ReconcileOptions reconcile_options(const std::string& since, const std::string& until, bool json) {
    ReconcileOptions asked{.since = {}, .until = {}, .json = json};
    const auto now = base::system_clock().now();
    asked.since = since.empty() ? now - std::chrono::hours{24} : time_option("--since", since, now);
    asked.until = until.empty() ? now : time_option("--until", until, now);
    if (asked.until <= asked.since)
        throw UsageError{"--until is " + until + ": not later than --since"};
    return asked;
}

void record_restore(
    Service& service, const RestoredOptions& options, bool json, std::ostream& out
) {
    const auto opened = store::write_now(service.engine().store(), [&](store::Session& session) {
        const auto restore = restore_of(options, session.now());
        return Opened{
            ops::open_epoch(session, restore),
            base::time_text(restore.lost_since),
            base::time_text(restore.keys_until)};
    });
    if (json) return print_row(out, opened, true);
    out << "Epoch " << opened.epoch << ": all changes since " << opened.lost_since
        << " count as lost. Until " << opened.repeats_until
        << " requests with new keys may repeat lost ones: calls that are never repeated, "
           "and "
           "calls that the provider may have forgotten, go to the attention list. Running servers "
           "learn of it within 2 s. Now compare with the provider: `reconcile`.\n";
}

}  // namespace pawl::cli
