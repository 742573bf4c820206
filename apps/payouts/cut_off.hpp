#pragma once

#include <pawl/job.hpp>
#include <pawl/tx.hpp>

#include "apps/payouts/bank_format.hpp"

#include <string_view>
#include <utility>
#include <vector>

namespace payouts {

// Staged at each cut-off time.
struct CutOff {
    static constexpr std::string_view kind = "cut_off";
    std::int64_t tick_ms{};  // Milliseconds since 1970; for people.
};

// Freezes one file of the payouts that wait, in one transaction: the file's number, its payouts,
// its bytes and hash. If more wait than fit into it, another CutOff follows. A payout that no file
// can have, as an earlier release or other settings accepted it, is set aside with its reason.
// A report that is not imported yet may name payouts of cancelled files: those wait for the next
// cut-off. After a restore no file is made before a person has said which ones the bank has
// (after_restore.hpp).
class CutOffWorker {
public:
    explicit CutOffWorker(BankFormat format) : format_{std::move(format)} {}
    pawl::JobResult work(pawl::Tx& tx, const pawl::Job<CutOff>& job);

private:
    void freeze(pawl::Tx& tx, std::vector<Payment> payments, std::int64_t number_of_day);
    void set_aside_unfit(pawl::Tx& tx, std::vector<Payment>& payments);

    BankFormat format_;
};

}  // namespace payouts
