#include "src/cli/key_list.hpp"

#include "src/cli/key_selector.hpp"
#include "src/cli/numbers.hpp"
#include "src/cli/run.hpp"
#include "src/engine/engine.hpp"
#include "src/engine/key_references.hpp"
#include "src/store/blocking.hpp"

#include <chrono>
#include <vector>

namespace pawl::cli {

namespace {

using Text = std::optional<std::string>;

struct KeyShort {
    std::int64_t id{};
    Text created_at;
    Text account;
    Text key;
    Text operation;
    std::string status;
    Text recovery_point;
    std::optional<int> attempt;
    std::optional<int> response_status;
    Text lease_until;
    Text error;
};

std::optional<TimePoint> time_of(const char* option, const std::string& text, TimePoint now) {
    if (text.empty()) return std::nullopt;
    return time_option(option, text, now);
}

std::optional<ops::KeyReference> reference_of(const KeyFilter& filter) {
    if (!filter.request_id.empty())
        return ops::KeyReference{std::string{engine::request_reference}, filter.request_id};
    if (filter.reference.empty()) return std::nullopt;
    const auto sign = filter.reference.find('=');
    if (sign == 0 || sign == filter.reference.npos || sign + 1 == filter.reference.size())
        throw UsageError{
            "--reference is " + filter.reference +
            ": NAME=ID, such as charge=ch_1; for an id "
            "without a name: keys search ID"};
    return ops::KeyReference{filter.reference.substr(0, sign), filter.reference.substr(sign + 1)};
}

ops::FoundKeys search(Service& service, const KeyFilter& filter) {
    auto wanted = filter.wanted;
    wanted.reference = reference_of(filter);
    return store::read_now(service.engine().store(), [&](store::Session& session) {
        wanted.since = time_of("--since", filter.since, session.now());
        wanted.until = time_of("--until", filter.until, session.now());
        if (filter.below) {
            wanted.after = ops::place_of_key(session, *filter.below);
            if (!wanted.after)
                throw CommandFailed{
                    "there is no " + name_of(*filter.below) +
                    " any more to continue from: start again without --below"};
        }
        return ops::search_keys(session, wanted);
    });
}

Line<KeyShort> shortened(const ops::FoundRow& found) {
    const auto& k = found.row;
    return {
        {k.id,
         k.created_at,
         k.account,
         k.key,
         k.operation,
         k.held_at ? k.status + ", held" : k.status,
         k.recovery_point,
         k.attempt,
         k.response_status,
         k.lease_until,
         k.error},
        found.damage};
}

}  // namespace

void add_key_filter(CLI::App& to, KeyFilter& filter) {
    auto& wanted = filter.wanted;
    to.add_option("--status,--state", wanted.state, "open, attention, finished or expired")
        ->check(CLI::IsMember({"open", "attention", "finished", "expired"}));
    to.add_option("--operation", wanted.operation, "Only keys of this operation");
    to.add_option("--account", wanted.account, "Only keys of this account");
    to.add_option("--tenant", wanted.tenant, "Only keys of this tenant");
    to.add_option("--key", wanted.key, "Only this Idempotency-Key; expired ones, too");
    auto* request = to.add_option(
        "--request-id", filter.request_id, "Only keys of this X-Request-Id; expired ones, too"
    );
    to.add_option(
          "--reference",
          filter.reference,
          "NAME=ID, such as charge=ch_1: only keys whose operation named it; expired ones, too"
    )
        ->excludes(request);
    to.add_option("--point", wanted.point, "Only keys at this recovery point");
    to.add_option(
        "--error", wanted.error, "Only unsettled keys with this text in their last error"
    );
    to.add_option(
        "--since", filter.since, "Only keys claimed (or expired) since then: 2h, or a time"
    );
    to.add_option("--until", filter.until, "Only keys claimed (or expired) before then");
    to.add_option("--below", filter.below, "Only keys older than this id: the next page")
        ->check(decimal());
    add_limit(to, wanted.limit, "Most keys to show");
}

void add_stuck(CLI::App& to, KeyFilter& filter) {
    constexpr auto text =
        "Oldest first, only keys that do not go on by themselves: the completer has failed three "
        "times or more, or this program does not know their recovery point";
    const auto others = to.get_options([](const CLI::Option* option) {
        const auto name = option->get_name();
        return name != "--limit" && name != "--json" && name != "--help";
    });
    auto* stuck = to.add_flag("--stuck", filter.stuck, text);
    for (auto* other : others) stuck->excludes(other);
}

void list_keys(Service& service, const KeyFilter& filter, bool json, std::ostream& out) {
    const auto found = search(service, filter);
    if (json) {
        std::vector<Line<ops::FoundKey>> lines;
        for (const auto& [row, damage] : found.rows) lines.push_back({row, damage});
        return print_rows(out, lines, true, "");
    }
    std::vector<Line<KeyShort>> lines;
    for (const auto& row : found.rows) lines.push_back(shortened(row));
    print_rows(out, lines, false, "No key matches.");
    if (!found.rows.empty() && found.rows.back().row.expired_at)
        out << "What is left of an expired key: keys show ID\n";
    if (found.next) out << "There may be more: --below " << found.next->id << '\n';
}

}  // namespace pawl::cli
