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
    bool none{};                             // It got none: said, as no file could be forgotten.
    // Nobody has refused a payout, or given up or cancelled a file, since the backup: what waited
    // then goes out.
    bool release_waiting{};
};
struct AnsweredRestore {
    std::int64_t files{};
    std::int64_t payouts{};         // Of these files.
    std::int64_t found{};           // That this database has; others may come with repeats.
    std::int64_t differ{};          // Set aside: another amount or account in this database.
    std::int64_t refused{};         // That a person has refused here, though the bank has them.
    std::int64_t in_other_files{};  // That were sent, too: the bank may pay them twice.
    std::int64_t cancelled{};       // Unsent files; their payouts wait, or are in one of these.
    std::int64_t waiting{};         // Payouts set aside, as they waited in the backup.
    std::int64_t released{};        // No longer set aside.
    std::int64_t unsent{};          // Files that are sent now.
    std::int64_t next_number{};
};
// The files count as sent. More may be named later. Throws Refused.
AnsweredRestore answer_restore(
    pawl::Tx& tx, const BankFormat& format, const RestoreAnswer& answer, const Decider& who
);

// For a file that is cancelled: its payouts of before a restore wait for a person, who may have
// refused them in the lost time, and those that the bank has in another file are in that one.
void settle_moved_payouts(pawl::Tx& tx, std::int64_t file);

}  // namespace payouts
