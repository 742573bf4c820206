#include "apps/payouts/shown.hpp"

#include <pawl/query.hpp>

#include "apps/payouts/payouts.hpp"
#include "payouts/statements.hpp"

namespace payouts {

namespace {

template <class Row, class Statement, class... A>
std::vector<Row> rows(pawl::Database& database, const Statement& statement, const A&... values) {
    std::vector<Row> found;
    database.read([&](pawl::Snapshot& read) {
        found = pawl::query<Row>(read, statement, values...);
    });
    return found;
}

}  // namespace

std::vector<FileShown> list_files(pawl::Database& database) {
    return rows<FileShown>(database, sql::list_files);
}

std::vector<PayoutShown> list_file_payouts(pawl::Database& database, std::int64_t number) {
    return rows<PayoutShown>(database, sql::list_file_payouts, number);
}

std::vector<SetAsideShown> list_set_aside(pawl::Database& database) {
    return rows<SetAsideShown>(database, sql::list_set_aside);
}

std::vector<ReportShown> list_reports(pawl::Database& database) {
    return rows<ReportShown>(database, sql::list_reports);
}

std::optional<ReportWithLines> show_report(pawl::Database& database, std::int64_t id) {
    auto reports = rows<ReportShown>(database, sql::find_report_shown, id);
    if (reports.empty()) return std::nullopt;
    return ReportWithLines{
        std::move(reports.front()),
        rows<LineShown>(database, sql::list_report_lines, id),
        rows<ItemShown>(database, sql::list_items, id),
        rows<NumberShown>(database, sql::list_numbers_of_report, id)};
}

std::optional<std::string> bytes_of_report(pawl::Database& database, std::int64_t id) {
    auto found = rows<std::vector<std::byte>>(database, sql::find_report_bytes, id);
    if (found.empty()) return std::nullopt;
    return text_of(found.front());
}

}  // namespace payouts
