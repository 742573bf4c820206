// A NACHA file: records of 94 characters, in blocks of ten. Positions as in the NACHA Operating
// Rules, appendix "ACH Record Format Specifications".
//
//   1  file header      5  batch header      6  entry*      8  batch control      9  file control
//   9999...  fills the last block

#include <pawl/bank_file.hpp>

#include "src/bank/field_check.hpp"
#include "src/bank/nacha_record.hpp"
#include "src/base/time_text.hpp"

namespace pawl::bank {

namespace {

constexpr std::int64_t cents_max = 9'999'999'999;    // Ten digits of an entry.
constexpr std::int64_t total_max = 999'999'999'999;  // Twelve digits of a control record.
constexpr std::size_t entries_max = 999'999;         // Six digits of a batch control.
constexpr std::string_view credits_only = "220";
constexpr std::string_view entry_class = "PPD";

void check_number(std::string_view field, std::string_view text) {
    if (!is_routing_number(text)) refuse_field(field, "must be a routing number of nine digits");
}

void check_head(const Nacha& file) {
    check_number("destination", file.destination);
    check_text("origin", file.origin, {.min = 1, .max = 10});
    check_text("destination_name", file.destination_name, {.min = 0, .max = 23});
    check_text("origin_name", file.origin_name, {.min = 0, .max = 23});
    check_text("company_name", file.company_name, {.max = 16});
    check_text("company_id", file.company_id, {.max = 10});
    check_text("description", file.description, {.max = 10});
    check_text("reference_code", file.reference_code, {.min = 0, .max = 8});
    check_date("effective_date", file.effective_date);
    if (number_of_modifier(file.file_id_modifier) == 0)
        refuse_field("file_id_modifier", "must be A to Z or 0 to 9");
    if (file.batch_number < 1 || file.batch_number > 9'999'999)
        refuse_field("batch_number", "must be from 1 to 9,999,999");
}

void check_credit(const AchCredit& credit) {
    check_text("individual_id", credit.individual_id, {.max = 15});
    check_text("name", credit.name, {.max = 22});
    check_number("routing_number", credit.routing_number);
    check_text("account_number", credit.account_number, {.max = 17});
    if (credit.cents <= 0 || credit.cents > cents_max)
        refuse_field("cents", "must be from 1 to 9,999,999,999");
}

// 2026-11-30 as 261130.
std::string short_date(std::string_view date) {
    return std::string{date.substr(2, 2)}.append(date.substr(5, 2)).append(date.substr(8, 2));
}

std::string file_header(const Nacha& file) {
    const auto created = base::time_text(file.created_at);  // 2026-11-21T04:30:00.123Z
    return RecordWriter{}
        .text("101", 3)
        .text(" " + file.destination, 10)
        .text(file.origin, 10)
        .text(short_date(created), 6)
        .text(created.substr(11, 2) + created.substr(14, 2), 4)
        .text({&file.file_id_modifier, 1}, 1)
        .text("094101", 6)
        .text(file.destination_name, 23)
        .text(file.origin_name, 23)
        .text(file.reference_code, 8)
        .line();
}

std::string batch_header(const Nacha& file) {
    return RecordWriter{}
        .text("5", 1)
        .text(credits_only, 3)
        .text(file.company_name, 16)
        .text("", 20)
        .text(file.company_id, 10)
        .text(entry_class, 3)
        .text(file.description, 10)
        .text("", 6)
        .text(short_date(file.effective_date), 6)
        .text("", 3)
        .text("1", 1)
        .text(std::string_view{file.destination}.substr(0, 8), 8)
        .number(file.batch_number, 7)
        .line();
}

// The trace number: the bank's eight digits, and the entry's place in the file.
std::string entry(const Nacha& file, const AchCredit& credit, std::int64_t place) {
    return RecordWriter{}
        .text(credit.account == AchCredit::Account::checking ? "622" : "632", 3)
        .text(credit.routing_number, 9)
        .text(credit.account_number, 17)
        .number(credit.cents, 10)
        .text(credit.individual_id, 15)
        .text(credit.name, 22)
        .text("", 2)
        .text("0", 1)
        .text(std::string_view{file.destination}.substr(0, 8), 8)
        .number(place, 7)
        .line();
}

std::string batch_control(const Nacha& file, const NachaTotals& totals) {
    return RecordWriter{}
        .text("8", 1)
        .text(credits_only, 3)
        .number(totals.entries, 6)
        .number(totals.hash(), 10)
        .number(totals.debits, 12)
        .number(totals.credits, 12)
        .text(file.company_id, 10)
        .text("", 25)
        .text(std::string_view{file.destination}.substr(0, 8), 8)
        .number(file.batch_number, 7)
        .line();
}

std::string file_control(const NachaTotals& totals, std::int64_t blocks) {
    return RecordWriter{}
        .text("9", 1)
        .number(1, 6)
        .number(blocks, 6)
        .number(totals.entries, 8)
        .number(totals.hash(), 10)
        .number(totals.debits, 12)
        .number(totals.credits, 12)
        .text("", 39)
        .line();
}

}  // namespace

std::string write_nacha(const Nacha& file, std::span<const AchCredit> credits) {
    check_head(file);
    if (credits.empty() || credits.size() > entries_max)
        refuse_field("the file", "has 1 to 999,999 entries");
    auto bytes = file_header(file) + batch_header(file);
    NachaTotals totals;
    for (const auto& credit : credits) {
        check_credit(credit);
        if (credit.cents > total_max - totals.credits)
            refuse_field("the sum", "has at most twelve digits");
        totals.entries += 1;
        totals.routing_sum += std::stoll(credit.routing_number.substr(0, 8));
        totals.credits += credit.cents;
        bytes += entry(file, credit, totals.entries);
    }
    const auto records = credits.size() + 4;
    const auto blocks = (records + records_a_block - 1) / records_a_block;
    bytes += batch_control(file, totals) + file_control(totals, static_cast<std::int64_t>(blocks));
    for (auto i = records; i < blocks * records_a_block; ++i)
        bytes += std::string(record_size, '9') + "\n";
    return bytes;
}

}  // namespace pawl::bank
