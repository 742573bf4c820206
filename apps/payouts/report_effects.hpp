#pragma once

#include <pawl/bank_file.hpp>
#include <pawl/tx.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

// What a report does to payouts and to the numbers of its series: for the import, and for persons
// who decide about a report.
namespace payouts {

// Why a report is not imported. Thrown to roll an import back.
struct Stopped {
    std::string rule;
    std::string found;
};

// A line that no import has: a row of list_wrong_lines. Without a payout of its amount that is in
// a file, a payment of a refused payout, or a second line about the same payout.
struct WrongLine {
    std::string sender;
    std::string line_key;
    std::string end_to_end_id;
    std::string what;
    std::int64_t amount{};
    std::string currency;
    std::optional<std::string> payout_state;
    std::optional<std::int64_t> payout_amount;
    std::optional<std::string> payout_currency;
    std::optional<std::string> payout_set_aside;
    std::optional<std::int64_t> file;
};
// A payout that is in no file, as its file was cancelled, and that a person has to decide about or
// has refused: settling says what became of it, an import does not.
bool is_for_person(const WrongLine& line);
Stopped stop_for(const WrongLine& line);

std::string text_of(pawl::bank::ReportLine::What what);
void insert_lines(pawl::Tx& tx, std::int64_t id, const pawl::bank::Report& report);
// What the report says beside its lines, for a person.
void insert_items(
    pawl::Tx& tx, std::int64_t id, const std::vector<pawl::bank::SetAsideItem>& items
);
std::vector<WrongLine> wrong_lines(pawl::Tx& tx, std::int64_t id);
// Removes the report's wrong lines and adds them to the items. Throws Stopped if one is for a
// payout that is in no file here: this database may be an old backup.
void set_wrong_lines_aside(
    pawl::Tx& tx, std::int64_t id, std::vector<pawl::bank::SetAsideItem>& items
);
// Of the payouts that the report's lines name. Returns how often a payout's state changed.
std::int64_t mark_payouts(pawl::Tx& tx, std::int64_t id);

// The payouts that a report names, be it in items that are set aside.
struct NamedPayouts {
    std::vector<std::string> end_to_end_ids{};
    bool all{};  // False: it can't be read, or an item of it names no payout.
};
NamedPayouts named_payouts(const pawl::bank::ReadReport& read);
// A payout of a cancelled file that the bank may have made after all goes in no other file until a
// person releases it. `named`: what a report says that has just come.
void set_named_aside(pawl::Tx& tx, std::int64_t id, const NamedPayouts& named);

// A series as the import sees it.
struct Series {
    std::string name;
    std::int64_t first{};
};
// `first_number`: the bank's first one of each series.
Series series_of(const pawl::bank::ReportNumber& number, std::int64_t first_number);
// The number that no report and no person has accounted for. No other transaction has read it, or
// one of the two is run again.
std::int64_t next_number(pawl::Tx& tx, const Series& series);
// Takes the number of a report that is imported out of its series; that of a page, with its last
// page. Throws Stopped: a lower one was used before, a higher one leaves a gap.
void end_number(pawl::Tx& tx, const Series& series, const pawl::bank::ReportNumber& number);
// All of a report.
void end_numbers(
    pawl::Tx& tx, const std::vector<pawl::bank::ReportNumber>& numbers, std::int64_t first_number
);
// The account has no numbers. Throws Stopped if it has had one.
void check_unnumbered(pawl::Tx& tx, const std::string& account);
// The number leaves no gap, although no report with it is imported; one may come later.
void skip_number(
    pawl::Tx& tx, const Series& series, std::int64_t number, std::optional<std::int64_t> report
);

}  // namespace payouts
