#include "apps/payouts/decide_report.hpp"

#include <pawl/audit.hpp>

#include "apps/payouts/payouts.hpp"
#include "payouts/statements.hpp"

#include <map>
#include <stdexcept>
#include <utility>

namespace payouts {

namespace {

using pawl::bank::Report;
using pawl::bank::ReportProblem;

struct PayoutRow {
    std::int64_t id{};
    std::string state;
    std::int64_t amount{};
    std::string currency;
};

std::string name_of(std::int64_t id) {
    return "report " + std::to_string(id);
}

struct Outcome {
    std::string decision;
    std::int64_t lines{};
    std::optional<std::int64_t> replaced_by{};
};
void decide(pawl::Tx& tx, std::int64_t id, const Outcome& outcome, const Decider& who) {
    const auto decided = pawl::execute(
        tx, sql::decide_report, id, outcome.decision, tx.now(), outcome.lines, outcome.replaced_by
    );
    if (decided == 0) {
        const auto state = pawl::query_maybe<std::string>(tx, sql::find_report_state, id);
        throw Refused{
            state ? name_of(id) + " waits for no decision: `payouts reports show " +
                        std::to_string(id) + "` has its state"
                  : "there is no " + name_of(id)};
    }
    audit(tx, who, outcome.decision, name_of(id));
    stage_stopped_reports(tx, id);  // Others may have waited for its number.
}

std::vector<std::string> skip_numbers(
    pawl::Tx& tx, std::int64_t id, const StoredReport& stored, std::int64_t first_number
) {
    std::vector<std::string> skipped;
    for (const auto& one : numbers_of(stored.read)) {
        if (!one.last_page) continue;  // The last page ends it.
        skip_number(tx, series_of(one, first_number), one.number, id);
        skipped.push_back(one.series + " " + std::to_string(one.number));
    }
    return skipped;
}

// Amounts are those of the payouts: a line by hand can't differ from them. Throws Refused if a line
// changes nothing.
std::int64_t settle_by_hand(pawl::Tx& tx, std::int64_t id, const std::vector<LineByHand>& lines) {
    for (const auto& line : lines) {
        const auto payout =
            pawl::query_maybe<PayoutRow>(tx, sql::find_payout_of_end_to_end, line.end_to_end_id);
        if (!payout) throw Refused{"there is no payout " + line.end_to_end_id};
        pawl::send(
            tx,
            sql::insert_line,
            std::string{"by hand"},
            std::to_string(id) + ":" + line.end_to_end_id + ":" + line.what,
            id,
            line.end_to_end_id,
            line.what,
            payout->amount,
            payout->currency,
            line.reason
        );
    }
    for (const auto& wrong : wrong_lines(tx, id)) {
        if (is_for_person(wrong)) continue;
        const auto why = stop_for(wrong);
        throw Refused{why.rule + ": " + why.found};
    }
    const auto marked = mark_payouts(tx, id);
    if (marked < std::ssize(lines))
        throw Refused{
            std::to_string(std::ssize(lines) - marked) + " of the " +
            std::to_string(std::ssize(lines)) +
            " payouts have that state already, or the bank has returned them after it paid"};
    return std::ssize(lines);
}

// Of a report that is imported; false: none waits.
bool decide_items(pawl::Tx& tx, std::int64_t id, const std::string& decision, const Decider& who) {
    if (pawl::execute(tx, sql::decide_items, id, decision) == 0) return false;
    audit(tx, who, decision, "what is set aside of " + name_of(id));
    return true;
}

std::int64_t settle_right_lines(
    pawl::Tx& tx, std::int64_t id, const Report& report, std::vector<LeftOut>& left_out
) {
    insert_lines(tx, id, report);
    for (const auto& line : wrong_lines(tx, id)) {
        if (is_for_person(line)) continue;
        auto why = stop_for(line);
        left_out.push_back(
            {line.end_to_end_id,
             line.what,
             line.amount,
             line.currency,
             std::move(why.rule),
             std::move(why.found)}
        );
        pawl::execute(tx, sql::delete_line, line.sender, line.line_key);
    }
    for (const auto& item : report.set_aside)
        left_out.push_back({item.end_to_end_id, "", 0, "", item.rule, item.found});
    mark_payouts(tx, id);
    return pawl::query_one<std::int64_t>(tx, sql::count_new_lines, id);
}

}  // namespace

std::vector<LineByHand> read_lines(const LinesByHand& by_hand) {
    std::vector<LineByHand> lines;
    std::map<std::string, std::string> given;  // The option of each end-to-end id.
    const auto add = [&](LineByHand line, const std::string& option) {
        const auto [first, added] = given.emplace(line.end_to_end_id, option);
        if (!added)
            throw std::invalid_argument{
                first->second + " and " + option + " are lines of one payout: give one line"};
        lines.push_back(std::move(line));
    };
    for (const auto& id : by_hand.paid) add({id, "paid", ""}, "--paid " + id);
    for (const auto& text : by_hand.returned) {
        const auto option = "--returned " + text;
        const auto sign = text.find('=');
        if (sign == text.npos || sign + 1 == text.size())
            throw std::invalid_argument{option + ": ID=REASON, such as 0123456789ABCDE=AC04"};
        add({text.substr(0, sign), "returned", text.substr(sign + 1)}, option);
    }
    return lines;
}

void audit(pawl::Tx& tx, const Decider& who, const std::string& action, const std::string& about) {
    pawl::record_audit(tx, {.by = who.by, .action = action, .detail = about + ": " + who.reason});
}

DecidedReport skip_report(
    pawl::Tx& tx,
    std::int64_t id,
    const StoredReport& stored,
    std::int64_t first_number,
    const Decider& who
) {
    if (decide_items(tx, id, "skipped", who)) return {id, "skipped", {}};
    auto numbers = skip_numbers(tx, id, stored, first_number);
    decide(tx, id, {.decision = "skipped"}, who);
    return {id, "skipped", std::move(numbers)};
}

DecidedReport skip_missing(
    pawl::Tx& tx, const Series& series, std::int64_t number, const Decider& who
) {
    const auto name = series.name + " " + std::to_string(number);
    const auto next = next_number(tx, series);
    if (number < next)
        throw Refused{name + " is no gap: the next number is " + std::to_string(next)};
    skip_number(tx, series, number, std::nullopt);
    audit(tx, who, "skipped", "the report with number " + name);
    stage_stopped_reports(tx, number);
    return {0, "skipped", {name}};
}

SettledReport settle_report(
    pawl::Tx& tx,
    std::int64_t id,
    const StoredReport& stored,
    const std::vector<LineByHand>& by_hand,
    std::int64_t first_number,
    const Decider& who
) {
    SettledReport settled{.report = id, .decision = "settled", .numbers = {}, .left_out = {}};
    const auto* report = std::get_if<Report>(&stored.read);
    if (pawl::query_one<std::int64_t>(tx, sql::count_open_items, id) > 0) {
        if (by_hand.empty())
            throw Refused{
                name_of(id) +
                " is imported: say by --paid and --returned what its items mean that are set "
                "aside, or skip them"};
        settled.lines = settle_by_hand(tx, id, by_hand);
        decide_items(tx, id, "settled", who);
        return settled;
    }
    if (by_hand.empty() && report == nullptr)
        throw Refused{
            name_of(id) + " can't be read (" + std::get<ReportProblem>(stored.read).rule +
            "): say by --paid and --returned what it means"};
    settled.lines = by_hand.empty() ? settle_right_lines(tx, id, *report, settled.left_out)
                                    : settle_by_hand(tx, id, by_hand);
    settled.numbers = skip_numbers(tx, id, stored, first_number);
    decide(tx, id, {.decision = "settled", .lines = settled.lines}, who);
    return settled;
}

ReplacedReport replace_report(
    pawl::Tx& tx, std::int64_t id, const Replacement& by, const Decider& who
) {
    if (const auto* wrong = std::get_if<ReportProblem>(&by.read))
        throw Refused{by.name + " can't be imported: " + wrong->rule + ": " + wrong->found};
    const auto hash = pawl::bank::sha256(by.bytes);
    const auto known = pawl::query_maybe<std::int64_t>(tx, sql::find_report_of_hash, hash);
    if (known) throw Refused{by.name + " has the bytes of " + name_of(*known)};
    const auto made = store_report(tx, hash, by.name, by.bytes);
    decide(tx, id, {.decision = "replaced", .replaced_by = made}, who);
    return {id, "replaced", made, by.name, std::ssize(std::get<Report>(by.read).lines)};
}

}  // namespace payouts
