#include "src/cli/settle_many.hpp"

#include "src/cli/output.hpp"
#include "src/cli/progress.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <fstream>
#include <utility>

namespace pawl::cli {

namespace {

constexpr std::size_t reasons_shown = 10;
constexpr int progress_from = 100;

struct Wanted {
    std::int64_t id{};
    Decision decision;
};

struct Left {
    std::int64_t id{};
    std::string why;
};

struct PlanLine {
    std::int64_t id{};
    std::string settlement{};
    std::optional<std::string> result{};
    std::optional<std::string> value{};
    std::optional<int> answer_status{};
    std::optional<std::string> called_from{};
    std::optional<std::string> left{};  // Why it would be left.
};

[[noreturn]] void refuse_line(const SettleManyOptions& options, int line, const std::string& why) {
    throw UsageError{
        options.from + ", line " + std::to_string(line) + ": " + why +
        R"(; each line is such as {"id": 17, "result": "Charge", "value": {"id": "ch_1"}}, or has "key")"
        " instead of \"id\""};
}

Wanted read_line(
    Service& service,
    const SettleManyOptions& options,
    const Decision& decision,
    const std::string& text,
    int line
) {
    boost::system::error_code failed;
    const auto parsed = boost::json::parse(text, failed);
    const auto* fields = failed ? nullptr : parsed.if_object();
    if (fields == nullptr) refuse_line(options, line, "not a JSON object");
    const auto* result = fields->if_contains("result");
    const auto* value = fields->if_contains("value");
    if (result == nullptr || !result->is_string() || value == nullptr || !value->is_object())
        refuse_line(options, line, "result is a text, and value an object");
    Wanted wanted{.id = 0, .decision = decision};
    wanted.decision.result = result->as_string().c_str();
    wanted.decision.value = boost::json::serialize(*value);
    KeySelector which;
    if (const auto* id = fields->if_contains("id"); id != nullptr && id->is_int64())
        which.id = id->as_int64();
    else if (const auto* key = fields->if_contains("key"); key != nullptr && key->is_string())
        which.key = key->as_string().c_str();
    else
        refuse_line(options, line, "id is a number, or key a text");
    wanted.id = id_of(service, which);
    return wanted;
}

std::vector<Wanted> read_file(
    Service& service, const SettleManyOptions& options, const Decision& decision
) {
    std::ifstream file{options.from};
    if (!file) throw UsageError{"can't read " + options.from};
    std::vector<Wanted> wanted;
    std::string text;
    for (int line = 1; std::getline(file, text); ++line)
        if (text.find_first_not_of(" \t\r") != std::string::npos)
            wanted.push_back(read_line(service, options, decision, text, line));
    return wanted;
}

std::vector<Wanted> all_wanted(
    Service& service, const SettleManyOptions& options, const Decision& decision
) {
    if (!options.from.empty()) return read_file(service, options, decision);
    std::vector<Wanted> wanted;
    for (const auto id : undecided_ids(service, options.choice)) wanted.push_back({id, decision});
    return wanted;
}

PlanLine line_of(const SettlePlan& plan) {
    return {
        .id = plan.id,
        .settlement = plan.settlement,
        .result = plan.result,
        .value = plan.value,
        .answer_status = plan.answer_status,
        .called_from = plan.called_from,
        .left = plan.too_early};
}

void print_outcome(
    std::size_t recorded, const std::vector<Left>& left, bool json, std::ostream& out
) {
    if (json) {
        boost::json::array reasons;
        for (const auto& [id, why] : left)
            reasons.push_back(boost::json::object{{"id", id}, {"why", why}});
        out << boost::json::serialize(boost::json::object{
                   {"recorded", recorded}, {"left", std::move(reasons)}})
            << '\n';
        return;
    }
    out << recorded << " recorded";
    if (!left.empty()) out << ", " << left.size() << " left";
    out << ".\n";
    for (std::size_t i = 0; i < left.size() && i < reasons_shown; ++i)
        out << "  key " << left[i].id << ": " << left[i].why << '\n';
    if (left.size() > reasons_shown)
        out << "  and " << left.size() - reasons_shown << " more: --json lists all\n";
}

}  // namespace

bool settle_many(
    Service& service,
    const SettleManyOptions& options,
    const Decision& decision,
    bool json,
    std::ostream& out,
    std::ostream& error
) {
    const auto wanted = all_wanted(service, options, decision);
    std::vector<Left> left;
    std::vector<Line<PlanLine>> plans;
    Progress progress{error, std::ssize(wanted), "recorded"};
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        try {
            const auto settled = settle(service, wanted[i].id, wanted[i].decision);
            if (decision.dry_run) plans.push_back({line_of(settled.plan), {}});
        } catch (const CommandFailed& cannot) {
            left.push_back({wanted[i].id, cannot.why});
            if (decision.dry_run)
                plans.push_back(
                    {{.id = wanted[i].id, .settlement = decision.settlement, .left = cannot.why},
                     {}}
                );
        }
        if (wanted.size() > progress_from && (i + 1) % progress_from == 0)
            progress.show(static_cast<std::int64_t>(i) + 1);
    }
    if (decision.dry_run) {
        print_rows(out, plans, json, "No undecided entry matches.");
        return left.empty();
    }
    print_outcome(wanted.size() - left.size(), left, json, out);
    return left.empty();
}

}  // namespace pawl::cli
