#include "apps/payouts/fetch_reports.hpp"

#include <pawl/log.hpp>

#include "apps/payouts/import_report.hpp"
#include "apps/payouts/payouts.hpp"
#include "payouts/statements.hpp"

#include <compare>
#include <set>
#include <tuple>
#include <utility>

namespace payouts {

namespace {

struct Seen {
    std::string name;
    std::int64_t size{};
    std::int64_t modified_s{};
    friend auto operator<=>(const Seen&, const Seen&) = default;
};

bool is_temporary(const std::string& name) {
    for (const auto* ending : {".tmp", ".part", ".filepart"})
        if (name.ends_with(ending)) return true;
    return name.starts_with(".");
}

}  // namespace

FetchReportsWorker::FetchReportsWorker(
    pawl::Database& database, const pawl::Sftp& sftp, std::string outbox
)
    : database_{database}, sftp_{sftp}, outbox_{std::move(outbox)} {}

// May run again after a crash at any point: the hash of the bytes is unique.
void FetchReportsWorker::store(const pawl::SftpEntry& entry, const std::string& bytes) {
    database_.write([&](pawl::Tx& tx) {
        const auto hash = pawl::bank::sha256(bytes);
        pawl::execute(tx, sql::insert_report, hash, entry.name, bytes_of(bytes), tx.now());
        const auto id = pawl::query_one<std::int64_t>(tx, sql::find_report_of_hash, hash);
        pawl::execute(tx, sql::insert_report_name, entry.name, entry.size, entry.modified_s, id);
        stage_open_reports(tx);
    });
}

pawl::JobResult FetchReportsWorker::work(pawl::Call& call, const pawl::Job<FetchReports>&) {
    std::set<Seen> seen;
    database_.write([](pawl::Tx& tx) { stage_open_reports(tx); });
    database_.read([&](pawl::Snapshot& read) {
        for (auto& one : pawl::query<Seen>(read, sql::list_report_names))
            seen.insert(std::move(one));
    });
    for (const auto& entry : sftp_.list(call, outbox_)) {
        if (is_temporary(entry.name) ||
            seen.contains({entry.name, static_cast<std::int64_t>(entry.size), entry.modified_s}))
            continue;
        const auto bytes = sftp_.read(call, outbox_ + "/" + entry.name);
        if (bytes.size() == entry.size)
            store(entry, bytes);
        else  // Written meanwhile; the next tick reads it.
            pawl::log::warning("report_still_written", {{"file", entry.name}});
    }
    return pawl::done;
}

}  // namespace payouts
