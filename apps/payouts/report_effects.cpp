#include "apps/payouts/report_effects.hpp"

#include "payouts/statements.hpp"

namespace payouts {

namespace {

// Also those that a server of the release before, which does not know skipped numbers, came to.
void pass_skipped(pawl::Tx& tx, const Series& series) {
    while (pawl::execute(tx, sql::pass_skipped_number, series.name) == 1) {
    }
}

}  // namespace

std::string text_of(pawl::bank::ReportLine::What what) {
    return what == pawl::bank::ReportLine::What::paid ? "paid" : "returned";
}

Stopped stop_for(const WrongLine& line) {
    const auto said = line.what + " " + std::to_string(line.amount) + " " + line.currency +
                      " for \"" + line.end_to_end_id + "\"";
    if (!line.payout_state || line.payout_state == "collected")
        return {"unknown reference", said + ": no file has such a payout"};
    if (line.payout_amount != line.amount || line.payout_currency != line.currency)
        return {
            "amount of the payout",
            said + ": the payout is over " + std::to_string(*line.payout_amount) + " " +
                *line.payout_currency};
    return {"one line for each payout", said + ": another line says the same"};
}

void insert_lines(pawl::Tx& tx, std::int64_t id, const pawl::bank::Report& report) {
    for (const auto& line : report.lines)
        pawl::send(
            tx,
            sql::insert_line,
            report.sender,
            line.key,
            id,
            line.end_to_end_id,
            text_of(line.what),
            line.amount,
            line.currency,
            line.reason
        );
}

std::vector<WrongLine> wrong_lines(pawl::Tx& tx, std::int64_t id) {
    return pawl::query<WrongLine>(tx, sql::list_wrong_lines, id);
}

void mark_payouts(pawl::Tx& tx, std::int64_t id) {
    pawl::send(tx, sql::mark_paid, id);
    pawl::send(tx, sql::mark_returned, id);
}

std::int64_t next_number(pawl::Tx& tx, const Series& series) {
    pass_skipped(tx, series);
    return pawl::query_maybe<std::int64_t>(tx, sql::find_series_number, series.name)
        .value_or(series.first);
}

void end_number(pawl::Tx& tx, const Series& series, std::int64_t number) {
    pawl::execute(tx, sql::insert_series, series.name, series.first);
    const auto next = next_number(tx, series);
    const auto text = "it is number " + std::to_string(number) + " of " + series.name +
                      ", the next one is " + std::to_string(next);
    if (number > next) throw Stopped{"numbers without a gap", text};
    const bool skipped = pawl::execute(tx, sql::drop_skipped_number, series.name, number) == 1;
    if (number < next && !skipped) throw Stopped{"each number once", text};
    if (number == next) pawl::execute(tx, sql::end_series_number, series.name, number);
    pass_skipped(tx, series);
}

void skip_number(
    pawl::Tx& tx, const Series& series, std::int64_t number, std::optional<std::int64_t> report
) {
    pawl::execute(tx, sql::insert_series, series.name, series.first);
    if (number < next_number(tx, series)) return;
    pawl::execute(tx, sql::add_skipped_number, series.name, number, report);
    pass_skipped(tx, series);
}

}  // namespace payouts
