#pragma once

#include <pawl/job.hpp>
#include <pawl/tx.hpp>

#include "apps/payouts/bank_format.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

namespace payouts {

struct ImportReport {
    static constexpr std::string_view kind = "import_report";
    std::int64_t report{};
};

// Stages the imports of all reports that are not imported.
void stage_open_reports(pawl::Tx& tx);

// Imports one stored report in one transaction, whole or not at all. A report that can't be
// imported is stopped with its reason; it is tried again when another one was imported, and at each
// fetch.
class ImportReportWorker {
public:
    ImportReportWorker(BankFormat format, std::int64_t first_number)
        : format_{std::move(format)}, first_number_{first_number} {}
    void work(pawl::Tx& tx, const pawl::Job<ImportReport>& job);

private:
    void import(pawl::Tx& tx, std::int64_t id, const std::string& bytes) const;
    void end_number(pawl::Tx& tx, const pawl::bank::ReportNumber& number) const;

    BankFormat format_;
    std::int64_t first_number_;
};

}  // namespace payouts
