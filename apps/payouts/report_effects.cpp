#include "apps/payouts/report_effects.hpp"

#include <pawl/json.hpp>
#include <pawl/log.hpp>

#include "payouts/statements.hpp"

namespace payouts {

namespace {

// Also those that a server of the release before, which does not know skipped numbers, came to.
void pass_skipped(pawl::Tx& tx, const Series& series) {
    while (pawl::execute(tx, sql::pass_skipped_number, series.name) == 1) {
    }
}

bool is_unknown(const WrongLine& line) {
    return !line.payout_state || line.payout_state == "collected";
}

bool is_refused(const WrongLine& line) {
    return line.payout_state == "returned" && !line.file && line.what == "paid";
}

void log_set_aside(const std::vector<std::string>& end_to_end_ids, const std::string& why) {
    for (const auto& id : end_to_end_ids)
        pawl::log::limited_warning(
            "payout_set_aside", {}, {{"end_to_end_id", id}, {"why", why}}, 20
        );
}

}  // namespace

std::string text_of(pawl::bank::ReportLine::What what) {
    return what == pawl::bank::ReportLine::What::paid ? "paid" : "returned";
}

Stopped stop_for(const WrongLine& line) {
    const auto said = line.what + " " + std::to_string(line.amount) + " " + line.currency +
                      " for \"" + line.end_to_end_id + "\"";
    if (is_unknown(line)) return {"unknown reference", said + ": no file has such a payout"};
    if (line.payout_amount != line.amount || line.payout_currency != line.currency)
        return {
            "amount of the payout",
            said + ": the payout is over " + std::to_string(*line.payout_amount) + " " +
                *line.payout_currency};
    if (is_refused(line))
        return {"payout that a person has refused", said + ": its client sees it as returned"};
    return {"one line for each payout", said + ": another line says the same"};
}

void insert_lines(pawl::Tx& tx, std::int64_t id, const pawl::bank::Report& report) {
    for (const auto& line : report.lines)
        pawl::send(
            tx,
            sql::insert_line,
            line.account.empty() ? report.sender : line.account,
            line.key,
            id,
            line.end_to_end_id,
            text_of(line.what),
            line.amount,
            line.currency,
            line.reason
        );
}

void insert_items(
    pawl::Tx& tx, std::int64_t id, const std::vector<pawl::bank::SetAsideItem>& items
) {
    std::int64_t place = 0;
    for (const auto& item : items)
        pawl::send(tx, sql::insert_item, id, ++place, item.rule, item.found, item.end_to_end_id);
}

std::vector<WrongLine> wrong_lines(pawl::Tx& tx, std::int64_t id) {
    return pawl::query<WrongLine>(tx, sql::list_wrong_lines, id);
}

void set_wrong_lines_aside(
    pawl::Tx& tx, std::int64_t id, std::vector<pawl::bank::SetAsideItem>& items
) {
    for (const auto& line : wrong_lines(tx, id)) {
        const auto why = stop_for(line);
        if (is_unknown(line)) throw why;
        items.push_back({why.rule, why.found, line.end_to_end_id});
        pawl::execute(tx, sql::delete_line, line.sender, line.line_key);
    }
}

bool is_for_person(const WrongLine& line) {
    return ((line.payout_state == "collected" && line.payout_set_aside) || is_refused(line)) &&
           line.payout_amount == line.amount && line.payout_currency == line.currency;
}

NamedPayouts named_payouts(const pawl::bank::ReadReport& read) {
    const auto* report = std::get_if<pawl::bank::Report>(&read);
    if (report == nullptr) return {};
    NamedPayouts named{.all = true};
    for (const auto& line : report->lines) named.end_to_end_ids.push_back(line.end_to_end_id);
    for (const auto& item : report->set_aside) {
        if (item.end_to_end_id.empty()) named.all = false;
        named.end_to_end_ids.push_back(item.end_to_end_id);
    }
    return named;
}

void set_named_aside(pawl::Tx& tx, std::int64_t id, const NamedPayouts& named) {
    pawl::execute(tx, sql::lock_next_file);
    const auto report = "report " + std::to_string(id);
    const auto why = report + " names it";
    const auto ids = pawl::to_json(named.end_to_end_ids);
    log_set_aside(pawl::query<std::string>(tx, sql::set_aside_named, ids, why), why);
    if (named.all) return;
    const auto may = report + " may be about it: it can't be read, or has an item without a payout";
    log_set_aside(pawl::query<std::string>(tx, sql::set_aside_of_cancelled, may), may);
}

std::int64_t mark_payouts(pawl::Tx& tx, std::int64_t id) {
    const auto paid = pawl::execute(tx, sql::mark_paid, id);
    return paid + pawl::execute(tx, sql::mark_returned, id);
}

std::int64_t next_number(pawl::Tx& tx, const Series& series) {
    pawl::execute(tx, sql::insert_series, series.name, series.first);
    pass_skipped(tx, series);
    return pawl::query_one<std::int64_t>(tx, sql::lock_series_number, series.name);
}

Series series_of(const pawl::bank::ReportNumber& number, std::int64_t first_number) {
    return {.name = number.series, .first = number.first.value_or(first_number)};
}

// The pages of a message are a series of their own, so a later page has all those before it: they
// may have had the number, or the numbers from the next one up to it.
void end_number(pawl::Tx& tx, const Series& series, const pawl::bank::ReportNumber& one) {
    const auto number = one.number;
    auto next = next_number(tx, series);
    const auto text = "it is number " + std::to_string(number) + " of " + series.name +
                      ", the next one is " + std::to_string(next);
    if (number - (one.page - 1) > next) throw Stopped{"numbers without a gap", text};
    for (; next < number; ++next) pawl::execute(tx, sql::end_series_number, series.name, next);
    const bool skipped = pawl::execute(tx, sql::drop_skipped_number, series.name, number) == 1;
    if (number < next && !skipped && !one.repeated && one.page == 1)
        throw Stopped{"each number once", text};
    if (number == next && one.last_page)
        pawl::execute(tx, sql::end_series_number, series.name, number);
    pass_skipped(tx, series);
}

// From the back, as the pages stand behind the number that they may share: a page without those
// before it is a gap, before end_number() goes through the numbers of as many pages as the bank
// says.
void end_numbers(
    pawl::Tx& tx, const std::vector<pawl::bank::ReportNumber>& numbers, std::int64_t first_number
) {
    for (auto one = numbers.rbegin(); one != numbers.rend(); ++one)
        end_number(tx, series_of(*one, first_number), *one);
}

void check_unnumbered(pawl::Tx& tx, const std::string& account) {
    if (pawl::query_maybe<std::int64_t>(tx, sql::find_series_number, account))
        throw Stopped{
            "camt.054 Ntfctn/ElctrncSeqNb",
            account + " has had numbers: without one a gap can't be seen"};
}

void skip_number(
    pawl::Tx& tx, const Series& series, std::int64_t number, std::optional<std::int64_t> report
) {
    if (number < next_number(tx, series)) return;
    pawl::execute(tx, sql::add_skipped_number, series.name, number, report);
    pass_skipped(tx, series);
}

}  // namespace payouts
