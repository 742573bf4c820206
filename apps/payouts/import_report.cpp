#include "apps/payouts/import_report.hpp"

#include <pawl/log.hpp>

#include "payouts/statements.hpp"

#include <optional>
#include <vector>

namespace payouts {

namespace {

using pawl::bank::Report;
using pawl::bank::ReportLine;

struct ReportRow {
    std::string state;
    std::vector<std::byte> bytes;
    std::string name;
};

// A row of find_wrong_line.
struct WrongLine {
    std::string end_to_end_id;
    std::string what;
    std::int64_t amount{};
    std::string currency;
    std::optional<std::string> payout_state;
    std::optional<std::int64_t> payout_amount;
    std::optional<std::string> payout_currency;
};

// Rolls an import back; caught by work().
struct Stopped {
    std::string rule;
    std::string found;
};

std::string text_of(ReportLine::What what) {
    return what == ReportLine::What::paid ? "paid" : "returned";
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

void insert_lines(pawl::Tx& tx, std::int64_t id, const Report& report) {
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
    if (const auto wrong = pawl::query_maybe<WrongLine>(tx, sql::find_wrong_line, id))
        throw stop_for(*wrong);
}

}  // namespace

void stage_open_reports(pawl::Tx& tx, std::optional<std::int64_t> imported) {
    const auto after = imported ? " after " + std::to_string(*imported) : "";
    for (const auto id : pawl::query<std::int64_t>(tx, sql::list_open_reports))
        tx.stage(ImportReport{id}, {.unique = std::to_string(id) + after});
}

// Takes the number out of its series, or stops: a lower one was used before, a higher one leaves a
// gap.
void ImportReportWorker::end_number(pawl::Tx& tx, const pawl::bank::ReportNumber& number) const {
    pawl::execute(tx, sql::insert_series, number.series, first_number_);
    if (pawl::execute(tx, sql::end_series_number, number.series, number.number) == 1) return;
    const auto next = pawl::query_one<std::int64_t>(tx, sql::find_series_number, number.series);
    throw Stopped{
        number.number > next ? "numbers without a gap" : "each number once",
        "it is number " + std::to_string(number.number) + " of " + number.series +
            ", the next one is " + std::to_string(next)};
}

void ImportReportWorker::import(pawl::Tx& tx, std::int64_t id, const pawl::bank::ReadReport& read)
    const {
    if (const auto* wrong = std::get_if<pawl::bank::ReportProblem>(&read))
        throw Stopped{wrong->rule, wrong->found};
    const auto& report = std::get<Report>(read);
    const auto same = pawl::query_maybe<std::string>(
        tx, sql::find_report_of_message, report.sender, report.message_id
    );
    if (same) throw Stopped{"each message once", "it is " + report.message_id + ", as " + *same};
    for (const auto& number : report.numbers) end_number(tx, number);
    insert_lines(tx, id, report);
    pawl::send(tx, sql::mark_paid, id);
    pawl::send(tx, sql::mark_returned, id);
    const auto new_lines = pawl::query_one<std::int64_t>(tx, sql::count_new_lines, id);
    pawl::execute(
        tx,
        sql::keep_imported,
        id,
        tx.now(),
        report.sender,
        report.message_id,
        static_cast<std::int64_t>(report.lines.size()),
        new_lines
    );
}

// Once: a second run finds the state that the first one has written.
void ImportReportWorker::import_or_stop(
    pawl::Tx& tx, std::int64_t id, const std::string& name, const pawl::bank::ReadReport& read
) const {
    if (pawl::query_one<std::string>(tx, sql::find_report_state, id) == "imported") return;
    std::optional<Stopped> stopped;
    try {
        // A savepoint: what was written before the stop is rolled back.
        const auto refused = tx.attempt([&] { import(tx, id, read); });
        if (refused) throw *refused;  // No constraint is expected to fail.
    } catch (Stopped& why) {
        stopped = std::move(why);
    }
    if (!stopped) {
        pawl::log::info("report_imported", {{"file", name}});
        return stage_open_reports(tx, id);
    }
    pawl::log::warning(
        "report_stopped", {{"file", name}, {"rule", stopped->rule}, {"found", stopped->found}}
    );
    pawl::execute(tx, sql::keep_stopped, id, stopped->rule, stopped->found);
}

pawl::JobResult ImportReportWorker::work(pawl::Call&, const pawl::Job<ImportReport>& job) {
    const auto id = job.args.report;
    ReportRow row;
    database_.read([&](pawl::Snapshot& read) {
        row = pawl::query_one<ReportRow>(read, sql::find_report, id);
    });
    if (row.state == "imported") return pawl::done;
    // The bank's bytes are read here, in no transaction: a long file holds up nobody.
    const auto read = format_.read(payouts::text_of(row.bytes));
    database_.write([&](pawl::Tx& tx) { import_or_stop(tx, id, row.name, read); });
    return pawl::done;
}

}  // namespace payouts
