#pragma once

#include <pawl/tx.hpp>

#include "apps/payouts/decisions.hpp"
#include "apps/payouts/sent_file.hpp"

#include <cstdint>
#include <vector>

// A restored backup does not know the files that the bank got since the backup. Until a person says
// which ones, no file is made and none is sent.
namespace payouts {

// Whether a restore waits for a person's answer; logs `why_not` with the command to use.
bool restore_is_open(pawl::Tx& tx, const char* why_not);

// Payouts that the bank has in a file of the lost time leave the others: those whose requests were
// in the backup, and those whose requests are repeated only now. One that has another amount now is
// set aside.
void keep_lost_payouts(pawl::Tx& tx);

struct AnsweredRestore {
    std::int64_t files{};
    std::int64_t payouts{};    // Of these files.
    std::int64_t found{};      // That this database has; others may come with repeated requests.
    std::int64_t set_aside{};  // They have another amount in this database.
    std::int64_t cancelled{};  // Files of the backup whose payouts the bank has in another file.
    std::int64_t next_number{};
};
// The bank got exactly these files since the backup. They count as sent. More may follow later.
// Throws Refused.
AnsweredRestore answer_restore(
    pawl::Tx& tx, const BankFormat& format, const std::vector<SentFile>& files, const Decider& who
);

}  // namespace payouts
