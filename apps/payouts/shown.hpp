#pragma once

#include <pawl/database.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What people see of files, reports and payouts: rows, which the commands print.
namespace payouts {

struct FileShown {
    std::int64_t number{};
    std::string name;
    std::string created_at;
    std::int64_t payouts{};
    std::int64_t amount{};
    std::string currency;
    std::string sha256;
    std::optional<std::string> sent_at;
    std::optional<std::string> given_up_at;
    std::optional<std::string> cancelled_at;
};
struct PayoutShown {
    std::int64_t id{};
    std::string end_to_end_id;
    std::int64_t amount{};
    std::string currency;
    std::string creditor_name;
    std::string creditor_account;
    std::string state;
    std::optional<std::string> set_aside;
};
struct SetAsideShown {
    std::int64_t id{};
    std::string end_to_end_id;
    std::int64_t amount{};
    std::string currency;
    std::string creditor_name;
    std::string creditor_account;
    std::string set_aside;  // Why.
};
struct ReportShown {
    std::int64_t id{};
    std::string name;
    std::string fetched_at;
    std::string state;  // fetched, imported, stopped, unread, skipped, settled, replaced.
    std::optional<std::string> sender;
    std::optional<std::string> message_id;
    std::optional<std::int64_t> lines;
    std::optional<std::int64_t> new_lines;  // Less than `lines`: some came before.
    std::optional<std::string> rule;
    std::optional<std::string> found;
    std::optional<std::int64_t> replaced_by;
    std::int64_t set_aside{};  // Items that wait for a person's decision.
};
struct LineShown {
    std::string end_to_end_id;
    std::string what;
    std::int64_t amount{};
    std::string currency;
    std::string reason;
};
struct NumberShown {
    std::string series;
    std::int64_t number{};
};
struct ItemShown {
    std::string rule;
    std::string found;
    std::string end_to_end_id;
    std::optional<std::string> decision;  // skipped, settled.
};
struct ReportWithLines {
    ReportShown report;
    std::vector<LineShown> lines;
    std::vector<ItemShown> set_aside;
    std::vector<NumberShown> skipped_numbers;
};

std::vector<FileShown> list_files(pawl::Database& database);
std::vector<PayoutShown> list_file_payouts(pawl::Database& database, std::int64_t number);
std::vector<SetAsideShown> list_set_aside(pawl::Database& database);
std::vector<ReportShown> list_reports(pawl::Database& database);
// nullopt: there is none.
std::optional<ReportWithLines> show_report(pawl::Database& database, std::int64_t id);
std::optional<std::string> bytes_of_report(pawl::Database& database, std::int64_t id);

}  // namespace payouts
