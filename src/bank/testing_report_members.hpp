#pragma once

#include <array>
#include <string_view>

// What docs/howto/bank_files.md shows; a test compares both, and tries a value that is not handled
// of each.
namespace pawl::bank {

// A member of a report that reverses or qualifies what it says, and which of its values are
// handled. An entry, payment or file with another value is set aside or refused.
struct ReportMember {
    std::string_view name{};     // As rules name it.
    std::string_view handled{};  // For people.
    std::string_view otherwise{};
};

inline constexpr auto entry_aside = "the entry is set aside";
inline constexpr auto payment_aside = "the payment is set aside";
inline constexpr auto file_refused = "the file is refused";

inline constexpr std::array camt054_members{
    ReportMember{"AppHdr", "`CpyDplct`, `PssblDplct`: a number may come again", "always handled"},
    ReportMember{
        "GrpHdr/MsgPgntn", "PgNb, LastPgInd: a page waits for those before it", file_refused},
    ReportMember{"Ntfctn/NtfctnPgntn", "the same, of one notification", file_refused},
    ReportMember{
        "Ntfctn/ElctrncSeqNb",
        "a whole number; none, if the account never had one",
        "the file waits for a person"},
    ReportMember{
        "Ntfctn/CpyDplctInd",
        "CODU, COPY, DUPL: its number may come again",
        "its payments are set aside"},
    ReportMember{"Ntry/CdtDbtInd", "DBIT, CRDT", file_refused},
    ReportMember{"Ntry/RvslInd", "false; true of a credit whose payments are returns", entry_aside},
    ReportMember{"Ntry/Sts", "BOOK, as text or Cd", entry_aside},
    ReportMember{"Ntry/Amt", "the sum of its payments, perhaps with its charges", entry_aside},
    ReportMember{"Ntry/Amt/Ccy", "that of Acct/Ccy, or of the first entry", payment_aside},
    ReportMember{"Ntry/Chrgs", "those that are in the sum or are not included", entry_aside},
    ReportMember{"Ntry/AmtDtls", "TxAmt and InstdAmt that are its amount or sum", entry_aside},
    ReportMember{"Ntry/NtryDtls/TxDtls", "one or more: a fee has none", entry_aside},
    ReportMember{"Btch/NbOfTxs", "the number of the batch's payments", entry_aside},
    ReportMember{"Btch/TtlAmt", "their sum, net or gross", entry_aside},
    ReportMember{"Btch/CdtDbtInd", "the sign of the sum", entry_aside},
    ReportMember{"TxDtls/CdtDbtInd", "DBIT, CRDT, or the entry's", entry_aside},
    ReportMember{"TxDtls/Amt", "over 0, in whole units; else TxAmt or InstdAmt", entry_aside},
    ReportMember{"TxDtls/Amt/Ccy", "the entry's", entry_aside},
    ReportMember{"TxDtls/AmtDtls", "TxAmt and InstdAmt that are its amount", payment_aside},
    ReportMember{"TxDtls/Chrgs", "those beside its amount, or not included", payment_aside},
    ReportMember{"TxDtls/RtrInf", "a credit has it, a debit has not; Cd or Prtry", payment_aside},
    ReportMember{"BkTxCd/Domn/Fmly/SubFmlyCd", "all; RRTN and RPCR of credits", payment_aside},
    ReportMember{"Refs/EndToEndId", "a text, but not NOTPROVIDED", payment_aside}};

inline constexpr std::array nacha_members{
    ReportMember{"file header 34, file ID modifier", "A-Z, a-z, 0-9", file_refused},
    ReportMember{"batch header 51-53, entry class", "PPD, CCD, CTX, WEB, TEL", entry_aside},
    ReportMember{"batch header 54-63, description", "all but REVERSAL and RECLAIM", entry_aside},
    ReportMember{
        "entry 2-3, transaction code of a returned credit",
        "21, 31: a return of a credit",
        entry_aside},
    ReportMember{"entry 30-39, amount", "over 0: a prenote has none", entry_aside},
    ReportMember{"entry 40-54, individual id", "printable ASCII", entry_aside},
    ReportMember{"addenda 2-3, type 98", "none: a notification of change", entry_aside},
    ReportMember{"addenda 2-3, type 99", "one, perhaps after other types", entry_aside},
    ReportMember{
        "addenda 4-6, return reason", "R01-R59, R80-R89; not dishonored (R60-R79)", entry_aside}};

}  // namespace pawl::bank
