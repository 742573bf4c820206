#pragma once

#include <pawl/detail/session.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// Files of payments for a bank, and the bank's reports on them, as pure functions: the same facts
// give the same bytes. Amounts are whole numbers of the currency's smallest unit.
// docs/howto/bank_files.md
namespace pawl::bank {

// Whether the check digits are right: ISO 13616 (IBAN, without spaces), and the ninth digit of a
// routing number of the ABA.
bool is_iban(std::string_view text);
bool is_routing_number(std::string_view text);

// SHA-256 as 64 hex digits, for the hash that is frozen with a file.
std::string sha256(std::string_view bytes);

// The characters that a bank takes in texts. A text with another one is refused, not changed.
enum class CharacterSet {
    epc217,  // SEPA's basic set (EPC217-08): A-Z a-z 0-9 / - ? : ( ) . , ' + and the space.
    ascii,   // Printable ASCII; always that of NACHA.
    xml      // XML 1.0 (2.2), without controls, noncharacters and Unicode's Cf.
};
// Each character that is not in the set becomes what EPC217-08 gives for it ("é" is "e", "&" is
// "+"); letters beyond that document become their base letter. One without such a form stays, for
// the check to refuse. The text may become longer. Throws std::invalid_argument if it is not UTF-8.
std::string transliterated(std::string_view text, CharacterSet to);
// And it is UTF-8.
bool has_only(CharacterSet set, std::string_view text);

// pain.001.001.09: a customer's credit transfers.
struct CreditTransfer {
    std::string end_to_end_id{};  // 1 to 35 characters; the bank's reports name it.
    std::int64_t amount{};
    std::string creditor_name{};     // 1 to 140 characters.
    std::string creditor_account{};  // IBAN.
    std::string remittance{};        // At most 140 characters; may be empty.
};
struct Pain001 {
    std::string message_id{};  // 1 to 35 characters; never used again.
    TimePoint created_at{};
    std::string execution_date{};  // 2026-11-30
    std::string debtor_name{};
    std::string debtor_account{};  // IBAN.
    std::string debtor_bic{};      // Empty: NOTPROVIDED.
    std::string currency{};        // EUR
    // Of all texts. Ids neither begin nor end with / and have no // in epc217.
    CharacterSet characters{CharacterSet::epc217};
};
// One payment information block. Throws std::invalid_argument, which names the field, if a value
// breaks the standard's rule, or if there is no transfer.
std::string write_pain001(const Pain001& file, std::span<const CreditTransfer> transfers);

// NACHA: a file of one batch of credits (PPD). Texts are ASCII; longer ones are refused, not cut.
struct AchCredit {
    enum class Account { checking, savings };
    std::string individual_id{};  // 1 to 15 characters; the returns name it.
    std::string name{};           // 1 to 22 characters.
    std::string routing_number{};
    std::string account_number{};  // 1 to 17 characters.
    Account account{Account::checking};
    std::int64_t cents{};
};
struct Nacha {
    std::string destination{};       // The bank's routing number.
    std::string origin{};            // 10 characters that the bank assigns.
    std::string destination_name{};  // At most 23 characters, as the next one.
    std::string origin_name{};
    std::string company_name{};    // At most 16 characters.
    std::string company_id{};      // At most 10 characters.
    std::string description{};     // At most 10 characters, such as PAYOUT.
    TimePoint created_at{};        // UTC.
    std::string effective_date{};  // 2026-11-30
    char file_id_modifier{'A'};    // A to Z, 0 to 9: the files of one day.
    std::int64_t batch_number{1};  // 1 to 9,999,999.
    std::string reference_code{};  // At most 8 characters; free.
};
// As write_pain001(). Lines end with \n; the file is filled up to blocks of ten records.
std::string write_nacha(const Nacha& file, std::span<const AchCredit> credits);

// A line of a bank's report: one payment was booked, or came back.
struct ReportLine {
    enum class What { paid, returned };
    What what{};
    // Of this line among all lines of this account: "ref:" and the bank's reference; or "hash:", a
    // hash of the line, and how many equal lines stand before it in the file.
    std::string key{};
    std::string end_to_end_id{};  // Or the individual id of NACHA.
    std::int64_t amount{};
    std::string currency{};
    std::string reason{};   // Of a return: AC04, R03.
    std::string account{};  // Of the notification, or the origin; empty: Report::sender.
};
// A part of a report that no line can say, such as a fee, a reversal or a pending entry: a person
// decides what it means. The rest of the report counts.
struct SetAsideItem {
    std::string rule{};           // What is not handled: "camt.054 Ntry/RvslInd".
    std::string found{};          // As ReportProblem::found.
    std::string end_to_end_id{};  // Empty: it names no payment, or several.
};
// A report's number in a series without gaps: camt.054 has one for each account; NACHA numbers the
// files of one day. Pages of one message may share a number or have successive ones: the last page
// ends it. The pages are a series, too.
struct ReportNumber {
    std::string series{};
    std::int64_t number{};
    std::int64_t page{1};
    bool last_page{true};
    bool repeated{false};                 // A copy: its number may have been used before.
    std::optional<std::int64_t> first{};  // Of the series; nullopt: the bank's first.
};
struct Report {
    std::string sender{};
    std::string message_id{};  // Of this file among all files of this sender.
    std::vector<ReportNumber> numbers{};
    std::vector<ReportLine> lines{};
    std::vector<SetAsideItem> set_aside{};
    std::vector<std::string> unnumbered{};  // Accounts whose notification has no number.
};
// Why a file can't be used. Nothing of it may be: a wrong control sum does not say which line is
// wrong.
struct ReportProblem {
    std::string rule{};   // What the standard requires: "camt.054 TtlNtries/Sum".
    std::string found{};  // For operators: at most 500 bytes of UTF-8 without control characters.
    // As far as the file could be read: a file that is here, though wrong, leaves no gap.
    std::vector<ReportNumber> numbers{};
};
// Every text of a Report has at most 200 bytes of UTF-8 without control characters, so that a
// database takes it.
using ReadReport = std::variant<Report, ReportProblem>;

// camt.054.001.02 to .14, alone or in an envelope. Reads no entity, no DTD and nothing from the
// network. The counts and sums of a notification must be right; an entry whose own are wrong is set
// aside.
ReadReport read_camt054(std::string_view bytes);
// Returns of NACHA: entries with an addenda record of type 99. All control totals must be right.
ReadReport read_nacha_returns(std::string_view bytes);

}  // namespace pawl::bank
