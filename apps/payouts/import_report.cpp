#include "apps/payouts/import_report.hpp"

#include <pawl/error.hpp>
#include <pawl/log.hpp>

#include "apps/payouts/report_effects.hpp"
#include "payouts/statements.hpp"

#include <optional>
#include <vector>

namespace payouts {

namespace {

using pawl::bank::Report;
using pawl::bank::ReportNumber;
using pawl::bank::ReportProblem;
using pawl::bank::SetAsideItem;

struct ReportRow {
    std::string state;
    std::vector<std::byte> bytes;
    std::string name;
};

}  // namespace

std::int64_t store_report(
    pawl::Tx& tx, const std::string& hash, const std::string& name, std::string_view bytes
) {
    const auto made = pawl::execute(tx, sql::insert_report, hash, name, bytes_of(bytes), tx.now());
    const auto id = pawl::query_one<std::int64_t>(tx, sql::find_report_of_hash, hash);
    if (made > 0) tx.stage(ImportReport{id});
    return id;
}

void stage_stopped_reports(pawl::Tx& tx, std::optional<std::int64_t> imported) {
    const auto after = imported ? " after " + std::to_string(*imported) : "";
    for (const auto id : pawl::query<std::int64_t>(tx, sql::list_stopped_reports))
        tx.stage(ImportReport{id}, {.unique = std::to_string(id) + after});
}

const std::vector<ReportNumber>& numbers_of(const pawl::bank::ReadReport& read) {
    const auto* report = std::get_if<Report>(&read);
    return report != nullptr ? report->numbers : std::get<ReportProblem>(read).numbers;
}

StoredReport read_stored(pawl::Database& database, const BankFormat& format, std::int64_t id) {
    std::optional<ReportRow> row;
    database.read([&](pawl::Snapshot& read) {
        row = pawl::query_maybe<ReportRow>(read, sql::find_report, id);
    });
    if (!row) return {};
    const auto bytes = text_of(row->bytes);
    return {row->state, row->name, format.read(bytes)};
}

// Returns what is set aside.
std::vector<SetAsideItem> ImportReportWorker::import(
    pawl::Tx& tx, std::int64_t id, const pawl::bank::ReadReport& read
) const {
    if (const auto* wrong = std::get_if<ReportProblem>(&read))
        throw Stopped{wrong->rule, wrong->found};
    const auto& report = std::get<Report>(read);
    const auto same = pawl::query_maybe<std::string>(
        tx, sql::find_report_of_message, report.sender, report.message_id
    );
    if (same) throw Stopped{"each message once", "it is " + report.message_id + ", as " + *same};
    for (const auto& account : report.unnumbered) check_unnumbered(tx, account);
    end_numbers(tx, report.numbers, first_number_);
    insert_lines(tx, id, report);
    auto items = report.set_aside;
    set_wrong_lines_aside(tx, id, items);
    insert_items(tx, id, items);
    mark_payouts(tx, id);
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
    return items;
}

// A report that is here, though wrong, leaves no gap: those after it do not wait for a person's
// decision. False: its numbers are unknown, or not the next ones.
bool ImportReportWorker::set_aside(
    pawl::Tx& tx, std::int64_t id, const std::vector<ReportNumber>& numbers
) const {
    bool any = false;
    for (const auto& one : numbers) {
        const auto series = series_of(one, first_number_);
        const auto next = next_number(tx, series);
        if (!one.last_page || one.number != next) continue;
        skip_number(tx, series, one.number, id);
        any = true;
    }
    return any;
}

void ImportReportWorker::stop(
    pawl::Tx& tx, std::int64_t id, const StoredReport& stored, const Stopped& why
) const {
    pawl::log::limited_warning(
        "report_stopped",
        why.rule,
        {{"file", stored.name}, {"rule", why.rule}, {"found", why.found}},
        20
    );
    pawl::execute(tx, sql::keep_stopped, id, why.rule, why.found);
    if (set_aside(tx, id, numbers_of(stored.read))) stage_stopped_reports(tx, id);
}

// Once: a second run finds the state that the first one has written.
void ImportReportWorker::import_or_stop(pawl::Tx& tx, std::int64_t id, const StoredReport& stored)
    const {
    const auto state = pawl::query_one<std::string>(tx, sql::find_report_state, id);
    if (state == "imported") return;
    // Once: a person may release a payout although the report is stopped.
    if (state == "fetched") set_named_aside(tx, id, named_payouts(stored.read));
    std::vector<SetAsideItem> items;
    try {
        // A savepoint: what was written before the stop is rolled back.
        const auto refused = tx.attempt([&] { items = import(tx, id, stored.read); });
        if (refused) throw *refused;  // No constraint is expected to fail.
    } catch (const Stopped& why) {
        return stop(tx, id, stored, why);
    }
    pawl::log::limited_info("report_imported", {}, {{"file", stored.name}}, 20);
    if (!items.empty())
        pawl::log::limited_warning(
            "report_items_set_aside",
            items.front().rule,
            {{"file", stored.name},
             {"items", items.size()},
             {"rule", items.front().rule},
             {"found", items.front().found}},
            20
        );
    stage_stopped_reports(tx, id);
}

pawl::JobResult ImportReportWorker::work(pawl::Call&, const pawl::Job<ImportReport>& job) {
    const auto id = job.args.report;
    // The bank's bytes are read here, in no transaction: a long file holds up nobody.
    const auto stored = read_stored(database_, format_, id);
    if (stored.state.empty() || stored.state == "imported") return pawl::done;
    try {
        database_.write([&](pawl::Tx& tx) { import_or_stop(tx, id, stored); });
    } catch (const pawl::StoreError& error) {
        if (error.transient() || error.effect() == pawl::StoreError::Effect::in_doubt) throw;
        // What this report says is refused by the database: the others are not held up by it.
        const Stopped why{"values that the database takes", error.what()};
        database_.write([&](pawl::Tx& tx) { stop(tx, id, stored, why); });
    }
    return pawl::done;
}

}  // namespace payouts
