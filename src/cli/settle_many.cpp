#include "src/cli/settle_many.hpp"

#include "src/cli/output.hpp"
#include "src/cli/progress.hpp"
#include "src/json/document.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <string_view>
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

// Why a line is refused.
struct WrongLine {
    std::string why;
};

// nullopt: the line has no such member.
std::optional<std::string> text_member(const boost::json::object& line, std::string_view name) {
    const auto* found = line.if_contains(name);
    if (found == nullptr) return std::nullopt;
    if (!found->is_string() || found->as_string().empty())
        throw WrongLine{std::string{name} + " is not a text"};
    return std::string{found->as_string()};
}

// A name that is mistyped must not be ignored: the decision would be another one.
void check_members(const boost::json::object& line) {
    constexpr std::array<std::string_view, 5> known{"id", "key", "as", "result", "value"};
    for (const auto& member : line)
        if (std::ranges::find(known, std::string_view{member.key()}) == known.end())
            throw WrongLine{"unknown member \"" + std::string{member.key()} + '"'};
}

boost::json::object parse_line(const std::string& text) {
    auto parsed = json::parse(text, json::Nul::refused);
    if (const auto* wrong = std::get_if<DecodeProblem>(&parsed))
        throw WrongLine{(wrong->field.empty() ? "" : wrong->field + ": ") + wrong->why};
    auto& value = std::get<boost::json::value>(parsed);
    if (!value.is_object()) throw WrongLine{"not a JSON object"};
    return std::move(value.get_object());
}

Wanted read_line(Service& service, const Decision& decision, const std::string& text) {
    const auto line = parse_line(text);
    check_members(line);
    const auto as = text_member(line, "as").value_or(decision.settlement);
    if (as != decision.settlement)
        throw WrongLine{"as is \"" + as + "\", and the command has --as " + decision.settlement};
    const auto result = text_member(line, "result");
    const auto* value = line.if_contains("value");
    if (!result || value == nullptr || !value->is_object())
        throw WrongLine{"result is a text, and value an object"};
    KeySelector which{.id = {}, .key = text_member(line, "key"), .account = {}, .tenant = {}};
    if (const auto* id = line.if_contains("id")) {
        if (!id->is_int64()) throw WrongLine{"id is not a number of a key"};
        which.id = id->as_int64();
    }
    if (!which.id && !which.key) throw WrongLine{"it has neither id nor key"};
    Wanted wanted{.id = id_of(service, which), .decision = decision};
    wanted.decision.result = *result;
    wanted.decision.value = boost::json::serialize(*value);
    return wanted;
}

// The whole file, before the first decision is recorded.
class DecisionFile {
public:
    DecisionFile(Service& service, const SettleManyOptions& options, const Decision& decision)
        : service_{service}, options_{options}, decision_{decision} {}

    std::vector<Wanted> read() {
        std::ifstream file{options_.from};
        std::string text;
        for (int line = 1; std::getline(file, text); ++line)
            if (text.find_first_not_of(" \t\r") != std::string::npos) add(text, line);
        if (!file.eof()) throw UsageError{"can't read " + options_.from};  // A folder, too.
        return std::move(wanted_);
    }

private:
    void add(const std::string& text, int line) {
        const auto name = options_.from + ", line " + std::to_string(line) + ": ";
        try {
            auto one = read_line(service_, decision_, text);
            const auto [first, added] = lines_.emplace(one.id, line);
            if (!added)
                throw WrongLine{
                    name_of(one.id) + " has line " + std::to_string(first->second) + " already"};
            wanted_.push_back(std::move(one));
        } catch (const WrongLine& wrong) {
            throw UsageError{
                name + wrong.why +
                R"(; each line is such as {"id": 17, "result": "Charge", "value": {"id": "ch_1"}}, or has "key")"
                " instead of \"id\""};
        } catch (const CommandFailed& wrong) {
            throw CommandFailed{name + wrong.why};
        }
    }

    Service& service_;
    const SettleManyOptions& options_;
    const Decision& decision_;
    std::map<std::int64_t, int> lines_;  // By the id of the key.
    std::vector<Wanted> wanted_;
};

std::vector<Wanted> all_wanted(
    Service& service, const SettleManyOptions& options, const Decision& decision
) {
    if (!options.from.empty()) return DecisionFile{service, options, decision}.read();
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
