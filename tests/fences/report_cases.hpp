#pragma once

#include "payouts/statements.hpp"
#include "tests/fences/fence_case.hpp"
#include "tests/fences/rows.hpp"

#include <string>
#include <vector>

// The statements of Payouts about reports of the bank.
namespace pawl::fences {

inline std::vector<Case> cases_of_reports() {
    namespace sql = payouts::sql;
    const std::string table{"payouts"};
    const std::string reports{"bank_reports"};
    const std::string lines{"bank_report_lines"};
    const std::string skipped{"bank_skipped_numbers"};
    const auto no_lines = "DELETE FROM bank_report_lines"s;
    const std::string items{"bank_set_aside_items"};
    const auto no_items = "DELETE FROM bank_set_aside_items"s;
    const auto no_numbers = "DELETE FROM bank_skipped_numbers"s;
    const auto state = "state@id = 10"s;
    const auto is_report = is("id", 70);
    const auto imported = "'imported', rule = NULL"s;
    const auto of_line = std::vector<Variations>{
        is("bank_report_lines.report_id", 70), is("bank_report_lines.end_to_end_id", "end-5"s)};
    const auto with = [&](std::vector<Variations> some, const std::vector<Variations>& more) {
        some.insert(some.end(), more.begin(), more.end());
        return some;
    };
    const auto one_report = "DELETE FROM bank_reports WHERE id <> 70"s;
    const std::vector<std::string> alone{no_lines, no_items, no_numbers, one_report};
    const auto with_sql = [](std::vector<std::string> some, const std::string& more) {
        some.push_back(more);
        return some;
    };
    const auto came = "2027-01-01T00:00:00.500Z"s;
    const auto returned = "UPDATE bank_report_lines SET what = 'returned'"s;
    const auto second =
        "INSERT INTO bank_report_lines (sender, line_key, report_id, "
        "end_to_end_id, what, amount, currency, reason) VALUES ('bank-5', "
        "'line-6', 71, 'end-5', 'paid', 500, 'USD', '')"s;
    const auto reason =
        "UPDATE bank_report_lines SET what = 'returned', reason = 'Z' WHERE "
        "line_key = 'line-6'"s;
    const auto no_reason = "SELECT return_reason = '' FROM payouts WHERE id = 10"s;
    const auto ends = std::vector<Variations>{
        is("end_to_end_id@line_key = 'line-6'", "end-5"s),
        refuses("what@line_key = 'line-6'", {"'returned'"})};
    return {
        {&sql::count_new_lines, {70}, lines, {is("report_id", 70)}, {}, {}, Case::Shown{0, 1}},
        {&sql::decide_report,
         {70, "skipped", now, 0, null},
         reports,
         {is_report, refuses("state", {imported}), passes("state", {"'fetched', rule = NULL"})},
         alone},
        {&sql::decide_report,
         {70, "skipped", now, 0, null},
         reports,
         {refuses("decision", {"NULL", "'skipped'", "'settled'"}), is_report},
         {no_lines,
          no_items,
          no_numbers,
          one_report,
          "UPDATE bank_reports SET state = 'imported', rule = NULL, decision = 'unread'"}},
        {&sql::decide_items,
         {70, "skipped"},
         items,
         {is("report_id", 70), refuses("decision", {"'settled'"})}},
        {&sql::count_open_items,
         {70},
         items,
         {is("report_id", 70), refuses("decision", {"'settled'"})},
         {},
         {},
         Case::Shown{0, 1}},
        {&sql::list_items, {70}, items, {is("report_id", 70)}},
        {&sql::find_report_shown,
         {70},
         items,
         {is("report_id", 70), refuses("decision", {"'settled'"})},
         {},
         {},
         Case::Shown{11, 1}},
        {&sql::delete_line,
         {"bank-5", "line-5"},
         lines,
         {is("sender", "bank-5"s), is("line_key", "line-5"s)}},
        {&sql::drop_skipped_number,
         {"series-5", 8},
         skipped,
         {is("series", "series-5"s), is("number", 8)}},
        {&sql::end_series_number,
         {"series-5", 8},
         "bank_report_series",
         {is("series", "series-5"s), is("next_number", 8)}},
        {&sql::find_report, {70}, reports, {is_report}, alone},
        {&sql::find_report_bytes, {70}, reports, {is_report}, alone},
        {&sql::find_report_of_hash, {"sha-5"}, reports, {is("sha256", "sha-5"s)}, alone},
        {&sql::find_report_of_message,
         {"bank-5", "message-5"},
         reports,
         {is("sender", "bank-5"s), is("message_id", "message-5"s)},
         alone},
        {&sql::find_report_shown, {70}, reports, {is_report}, alone},
        {&sql::find_report_state, {70}, reports, {is_report}, alone},
        {&sql::find_series_number, {"series-5"}, "bank_report_series", {is("series", "series-5"s)}},
        {&sql::keep_imported,
         {70, now, "bank-5", "m", 1, 1},
         reports,
         {is_report, refuses("state", {imported}), passes("state", {"'fetched', rule = NULL"})},
         alone},
        {&sql::keep_stopped,
         {70, "r", "f"},
         reports,
         {is_report, refuses("state", {imported}), passes("state", {"'fetched', rule = NULL"})},
         alone},
        {&sql::list_numbers_of_report, {70}, skipped, {is("report_id", 70)}},
        {&sql::list_open_reports,
         {20},
         reports,
         {refuses("state", {imported}), passes("state", {"'fetched', rule = NULL"})},
         alone},
        {&sql::list_open_reports,
         {20},
         reports,
         {refuses("decision", {"NULL", "'skipped'", "'settled'"})},
         with_sql(
             alone,
             "UPDATE bank_reports SET state = 'imported', rule = NULL, "
             "decision = 'unread'"
         )},
        {&sql::list_open_reports,
         {20},
         reports,
         {at_least("fetched_at", came), is("bank_files.number", 20)},
         with_sql(
             with_sql(alone, "DELETE FROM bank_file_payouts"),
             "DELETE FROM bank_files WHERE number <> 20"
         ),
         {},
         Case::Shown{2, 1}},
        {&sql::list_stopped_reports,
         {},
         reports,
         {passes("rule", {"'numbers without a gap'"}),
          refuses("rule", {"'other'"}),
          refuses("state", {imported, "'fetched', rule = NULL"})},
         with_sql(alone, "UPDATE bank_reports SET rule = 'unknown reference'")},
        {&sql::find_item_of_file,
         {20},
         items,
         {refuses("end_to_end_id", {"'x'"}),
          refuses("decision", {"'settled'"}),
          is("report_id", 70),
          at_least("bank_reports.fetched_at@id = 70", came),
          is("$1", 20)},
         {"UPDATE bank_set_aside_items SET end_to_end_id = ''",
          "UPDATE bank_reports SET fetched_at = '2026-01-01T00:00:00.500Z' WHERE id <> 70",
          "UPDATE bank_files SET created_at = '2028-01-01T00:00:00.500Z' WHERE number <> 20"}},
        {&sql::find_item_of_file,
         {20},
         items,
         {is("end_to_end_id", "end-5"s),
          refuses("decision", {"'settled'"}),
          is("bank_file_payouts.file_number", 20),
          refuses("bank_file_payouts.payout_id", {"9", "11"})},
         {"UPDATE bank_set_aside_items SET end_to_end_id = 'end-5'"}},
        {&sql::lock_series_number, {"series-5"}, "bank_report_series", {is("series", "series-5"s)}},
        {&sql::list_report_lines, {70}, lines, {is("report_id", 70)}},
        {&sql::mark_paid,
         {70},
         table,
         with(
             of_line,
             {passes(state, {"'in_file'"}),
              refuses(state, {"'collected'", "'paid'"}),
              refuses("bank_report_lines.what", {"'returned'"})}
         )},
        {&sql::mark_returned,
         {70},
         table,
         with(
             of_line,
             {passes(state, {"'in_file'", "'paid'"}),
              refuses(state, {"'collected'"}),
              refuses("bank_report_lines.what", {"'paid'"})}
         ),
         {returned}},
        // A person has settled what became of a payout of a cancelled file.
        {&sql::mark_paid,
         {70},
         table,
         {passes(state, {"'collected'"}), refuses(state, {"'paid'"})},
         {"UPDATE payouts SET set_aside = 'why'"}},
        {&sql::mark_paid,
         {70},
         table,
         {refuses(state, {"'paid', return_reason = NULL"}), refuses("$1", {"69", "71"})},
         {"DELETE FROM bank_file_payouts",
          "UPDATE payouts SET state = 'returned', return_reason = 'R' WHERE id = 10"}},
        {&sql::mark_paid,
         {70},
         table,
         {passes("bank_file_payouts.payout_id", {"9", "11"}),
          refuses("bank_file_payouts.payout_id", {"10"})},
         {"UPDATE payouts SET state = 'returned', return_reason = 'R' WHERE id = 10",
          "DELETE FROM bank_file_payouts",
          "INSERT INTO bank_file_payouts (payout_id, file_number) VALUES (9, 20)"}},
        {&sql::mark_returned,
         {70},
         table,
         {passes(state, {"'collected'"}), refuses(state, {"'returned', return_reason = 'R'"})},
         {returned, "UPDATE payouts SET set_aside = 'why'"}},
        // The reason is this report's, of this payout, of a return.
        {&sql::mark_returned,
         {70},
         table,
         {passes("bank_report_lines.report_id@line_key = 'line-6'", {"69"})},
         {returned, second, reason},
         no_reason},
        {&sql::mark_returned,
         {70},
         table,
         {passes("bank_report_lines.end_to_end_id@line_key = 'line-6'", {"'end-6'"})},
         {returned,
          second,
          reason,
          "UPDATE bank_report_lines SET report_id = 70, end_to_end_id = 'end-4' WHERE line_key = "
          "'line-6'"},
         no_reason},
        {&sql::mark_returned,
         {70},
         table,
         {},
         {returned,
          second,
          reason,
          "UPDATE bank_report_lines SET report_id = 70, what = 'paid' WHERE line_key = 'line-6'"},
         no_reason},
        {&sql::pass_skipped_number,
         {"series-5"},
         "bank_report_series",
         {is("series", "series-5"s),
          is("next_number", 8),
          is("bank_skipped_numbers.series", "series-5"s),
          is("bank_skipped_numbers.number", 8)}},
        // Lines that fit no payout.
        {&sql::list_wrong_lines,
         {70},
         table,
         {refuses("amount@id = 10", {"500"}),
          passes("amount@id = 10", {"499", "501"}),
          is("bank_report_lines.report_id", 70)},
         {"UPDATE payouts SET amount = 600 WHERE id = 10"}},
        {&sql::list_wrong_lines,
         {70},
         table,
         {refuses("currency@id = 10", {"'USD'"}), passes("currency@id = 10", {"'AAA'"})},
         {"UPDATE payouts SET currency = 'ZZZ' WHERE id = 10"}},
        {&sql::list_wrong_lines,
         {70},
         table,
         {refuses(state, {"'in_file'", "'sent'", "'paid'"})},
         {"UPDATE payouts SET state = 'collected' WHERE id = 10"}},
        // A payment of a payout that a person has refused: it is in no file.
        {&sql::list_wrong_lines,
         {70},
         table,
         {refuses(state, {"'in_file', return_reason = NULL", "'paid', return_reason = NULL"}),
          refuses("bank_report_lines.what", {"'returned'"})},
         {"DELETE FROM bank_file_payouts",
          "UPDATE payouts SET state = 'returned', return_reason = 'R' WHERE id = 10"}},
        {&sql::list_wrong_lines,
         {70},
         table,
         {refuses("bank_file_payouts.payout_id@payout_id = 9", {"10"})},
         {"UPDATE payouts SET state = 'returned', return_reason = 'R' WHERE id = 10",
          "DELETE FROM bank_file_payouts",
          "INSERT INTO bank_file_payouts (payout_id, file_number) VALUES (9, 20), (11, 21)"}},
        {&sql::list_wrong_lines,
         {70},
         table,
         {is("bank_report_lines.end_to_end_id", "end-7"s),
          refuses("bank_report_lines.end_to_end_id", {"'end-5'"})},
         {"UPDATE payouts SET state = 'sent', return_reason = NULL WHERE id <> 10",
          "UPDATE bank_report_lines SET end_to_end_id = 'end-7'",
          "UPDATE payouts SET end_to_end_id = 'end-6' WHERE id = 9",
          "UPDATE payouts SET end_to_end_id = 'end-8' WHERE id = 11"}},
        {&sql::list_wrong_lines, {70}, lines, ends, {second}},
        {&sql::list_wrong_lines,
         {70},
         lines,
         {refuses("what@line_key = 'line-6'", {"'paid'"})},
         {second, returned}},
        {&sql::list_wrong_lines,
         {70},
         lines,
         {},
         {second,
          "UPDATE bank_report_lines SET line_key = 'line-5', sender = 'bank-6' WHERE "
          "line_key = 'line-6'"}},
        {&sql::list_wrong_lines,
         {70},
         lines,
         {},
         {second,
          "UPDATE bank_report_lines SET line_key = 'line-5', sender = 'bank-4' WHERE "
          "line_key = 'line-6'"}},
        {&sql::list_wrong_lines,
         {70},
         lines,
         {},
         {second, "UPDATE bank_report_lines SET line_key = 'line-4' WHERE line_key = 'line-6'"}},
    };
}

}  // namespace pawl::fences
