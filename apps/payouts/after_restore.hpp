#pragma once

#include <pawl/tx.hpp>

#include "apps/payouts/decisions.hpp"
#include "apps/payouts/sent_file.hpp"

#include <cstdint>
#include <vector>

// A restored backup does not know the files that the bank got since the backup. Until a person says
// which ones, no file is made and none is sent.
namespace payouts {

// Whether a restore waits for a person's answer; logs `what` waits, with the command to use.
bool restore_is_open(pawl::Tx& tx, const char* what);

// Payouts that the bank has in a file of the lost time are in it: those whose requests were in the
// backup, and those whose requests are repeated only now. One that has another amount or account
// now is set aside.
void keep_lost_payouts(pawl::Tx& tx);

// The bank got exactly these files since the backup.
struct RestoreAnswer {
    std::vector<SentFile> files{};
    std::vector<std::int64_t> never_sent{};  // Numbers of files that it did not get.
    // Nobody has refused a payout since the backup: those that waited then go in the next file.
    bool release_waiting{};
};
struct AnsweredRestore {
    std::int64_t files{};
    std::int64_t payouts{};         // Of these files.
    std::int64_t found{};           // That this database has; others may come with repeats.
    std::int64_t differ{};          // Set aside: another amount or account in this database.
    std::int64_t in_other_files{};  // That were sent, too: the bank may pay them twice.
    std::int64_t cancelled{};       // Unsent files whose payouts the bank has in one of these.
    std::int64_t waiting{};         // Set aside: they waited in the backup.
    std::int64_t unsent{};          // Files that are sent now.
    std::int64_t next_number{};
};
// The files count as sent. More may be named later. Throws Refused.
AnsweredRestore answer_restore(
    pawl::Tx& tx, const BankFormat& format, const RestoreAnswer& answer, const Decider& who
);

}  // namespace payouts
