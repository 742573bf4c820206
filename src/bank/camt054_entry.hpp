#pragma once

#include <pawl/bank_file.hpp>

#include "src/bank/xml_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// An entry of a camt.054 as it stands there, and what it means. Amounts are 100,000ths
// (src/bank/amount.hpp).
namespace pawl::bank {

struct CamtAmount {
    std::int64_t parts{};
    std::string currency{};
    friend bool operator==(const CamtAmount&, const CamtAmount&) = default;
};
// nullopt: the element is missing, or is no amount.
std::optional<CamtAmount> read_amount(const XmlElement* amount);

// What stands alike in an entry and in each of its payments.
struct CamtCommon {
    std::string direction{};  // DBIT or CRDT; empty: missing.
    std::string reference{};
    std::string sub_family{};  // Of the bank's transaction code (ISO 20022).
    // Debits, which the amount contains; nullopt: one of them is no amount.
    std::optional<std::int64_t> charges{0};
    // Of the underlying or the instructed transaction.
    std::vector<std::optional<CamtAmount>> other_amounts{};
};
struct CamtPayment : CamtCommon {
    bool has_amount{};
    std::optional<CamtAmount> amount{};
    std::string end_to_end_id{};
    bool returned{};
    std::string reason{};
};
// NtryDtls: payments of an entry that the bank made as one batch. Empty texts are missing.
struct CamtBatch {
    std::vector<CamtPayment> payments{};
    std::string id{};
    std::string count{};
    std::string total{};
    std::string direction{};
};
struct CamtEntry : CamtCommon {
    CamtAmount amount{};
    std::string status{};
    std::string reversal{};  // Empty: missing.
    std::string booked_on{};
    std::vector<CamtBatch> batches{};
};
CamtPayment read_payment(const XmlElement& details);
CamtBatch read_batch(const XmlElement& group, std::vector<CamtPayment> payments);
// Without its batches.
CamtEntry read_entry(const XmlElement& entry, CamtAmount amount);

// true, false, 1 or 0; nullopt: another text.
std::optional<bool> read_boolean(std::string_view text);

// A line whose key is not made yet: it is unique in its account.
struct CamtLine {
    ReportLine line{};
    std::string reference{};  // Empty: the bank gave none.
    std::string content{};    // All that the entry says of it.
};
struct CamtEffect {
    std::vector<CamtLine> lines{};
    std::vector<SetAsideItem> set_aside{};
};
// Each payment is a line or is set aside; so is the entry if its payments do not explain its
// amount.
CamtEffect decide_entry(const CamtEntry& entry);

}  // namespace pawl::bank
