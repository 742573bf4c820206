#pragma once

#include <pawl/call.hpp>
#include <pawl/database.hpp>
#include <pawl/job.hpp>
#include <pawl/tx.hpp>

#include "apps/payouts/bank_format.hpp"
#include "apps/payouts/report_effects.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace payouts {

struct ImportReport {
    static constexpr std::string_view kind = "import_report";
    // A queue of its own, with few workers: a report takes eight times its size of memory.
    static constexpr pawl::JobSettings settings{.queue = "reports", .attempts = 60};
    std::int64_t report{};
};

// Stores the bank's bytes and stages their one import. Returns the id, also of bytes that are here:
// then nothing is staged, as a dead letter's import has killed its servers.
std::int64_t store_report(
    pawl::Tx& tx, const std::string& hash, const std::string& name, std::string_view bytes
);

// Stages the imports of the reports that are stopped for a gap or for a payout that is unknown:
// others wait for a person. `imported`: this one just was. A job that has begun
// before may not have seen it, so it does not stand for one that begins afterwards.
void stage_stopped_reports(pawl::Tx& tx, std::optional<std::int64_t> imported = {});

// A stored report, read in no transaction. An empty state: there is no such report.
struct StoredReport {
    std::string state;
    std::string name;
    pawl::bank::ReadReport read;
};
StoredReport read_stored(pawl::Database& database, const BankFormat& format, std::int64_t id);
const std::vector<pawl::bank::ReportNumber>& numbers_of(const pawl::bank::ReadReport& read);

// Reads one stored report, and then imports it in one transaction, whole or not at all: its totals
// do not say which line is wrong. What no line can say is set aside for a person. A report that
// can't be imported is stopped with its reason. Those after it go on.
class ImportReportWorker {
public:
    // The database outlives it.
    ImportReportWorker(pawl::Database& database, BankFormat format, std::int64_t first_number)
        : database_{database}, format_{std::move(format)}, first_number_{first_number} {}
    pawl::JobResult work(pawl::Call& call, const pawl::Job<ImportReport>& job);

private:
    std::vector<pawl::bank::SetAsideItem> import(
        pawl::Tx& tx, std::int64_t id, const pawl::bank::ReadReport& read
    ) const;
    bool set_aside(
        pawl::Tx& tx, std::int64_t id, const std::vector<pawl::bank::ReportNumber>& numbers
    ) const;
    void stop(pawl::Tx& tx, std::int64_t id, const StoredReport& stored, const Stopped& why) const;
    void import_or_stop(pawl::Tx& tx, std::int64_t id, const StoredReport& stored) const;

    pawl::Database& database_;
    BankFormat format_;
    std::int64_t first_number_;
};

}  // namespace payouts
