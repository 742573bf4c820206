#pragma once

#include <pawl/tx.hpp>

#include "apps/payouts/decisions.hpp"
#include "apps/payouts/import_report.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>

// A person's decisions about files and about payouts that are set aside. Each is one transaction,
// and throws Refused.
namespace payouts {

struct CancelRequest {
    std::int64_t number{};
    std::set<std::int64_t> set_aside{};  // Payouts that the next file must not have.
    bool cut_off_now{};                  // Else the next cut-off makes the new file.
    // Of a file that was given up although the bank has made some of its payments: those stay.
    bool keep_answered{};
    // What the stopped reports say. They are read in no transaction, so before.
    std::map<std::int64_t, NamedPayouts> stopped_reports{};
};
std::map<std::int64_t, NamedPayouts> read_stopped_reports(
    pawl::Database& database, const BankFormat& format, std::int64_t file
);
struct CancelledFile {
    std::int64_t file{};
    std::string name;
    std::string decision;
    std::int64_t payouts{};  // That have left the file.
    std::int64_t set_aside{};
};
// For a file that the bank has refused, or whose sending a person has given up. Its payouts wait
// again, and a later file with a number of its own gets them. bank_file_moves says where they were.
// Refused while a report that nobody has decided about names one of them, or may do so.
CancelledFile cancel_file(pawl::Tx& tx, const CancelRequest& request, const Decider& who);

// What it does to the file, unchecked. Returns how many payouts have left it.
std::int64_t move_payouts_out(pawl::Tx& tx, std::int64_t file, pawl::TimePoint now);

struct DecidedPayout {
    std::int64_t payout{};
    std::string decision;
};
// The next cut-off tries the payout again.
DecidedPayout release_payout(pawl::Tx& tx, std::int64_t id, const Decider& who);
// No file will have it: its client sees it as returned, with the reason.
DecidedPayout refuse_payout(pawl::Tx& tx, std::int64_t id, const Decider& who);

}  // namespace payouts
