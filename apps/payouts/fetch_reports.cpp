#include "apps/payouts/fetch_reports.hpp"

#include <pawl/error.hpp>
#include <pawl/log.hpp>

#include "apps/payouts/import_report.hpp"
#include "apps/payouts/payouts.hpp"
#include "payouts/statements.hpp"

#include <algorithm>
#include <compare>
#include <limits>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace payouts {

namespace {

constexpr std::size_t name_max = 250;  // Bytes; the databases have an index over names.
constexpr std::size_t large = std::size_t{4} * 1024 * 1024;
// Files in turn whose connection was lost: then it is the server's fault and not the file's.
constexpr int lost_max = 3;

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

std::string stored_name(const std::string& name) {
    if (name.size() <= name_max && pawl::bank::has_only(pawl::bank::CharacterSet::xml, name))
        return name;
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string stored;
    for (const char c : name) {
        if (c >= ' ' && c <= '~' && c != '%') {
            stored += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        stored += '%';
        stored += digits[byte / 16];
        stored += digits[byte % 16];
    }
    if (stored.size() <= name_max) return stored;
    return stored.substr(0, name_max - 20) + "..." + pawl::bank::sha256(name).substr(0, 16);
}

std::int64_t stored_size(std::uint64_t size) {
    constexpr std::uint64_t max = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(std::min(size, max));
}

FetchReportsWorker::FetchReportsWorker(
    pawl::Database& database, const pawl::Sftp& sftp, std::string outbox
)
    : database_{database}, sftp_{sftp}, outbox_{std::move(outbox)} {}

// May run again after a crash at any point: the hash of the bytes is unique.
void FetchReportsWorker::store(const pawl::SftpEntry& entry, const std::string& bytes) {
    const auto hash = pawl::bank::sha256(bytes);  // Of megabytes: not in the transaction.
    const auto name = stored_name(entry.name);
    database_.write([&](pawl::Tx& tx) {
        const auto id = store_report(tx, hash, name, bytes);
        pawl::execute(
            tx, sql::insert_report_name, name, stored_size(entry.size), entry.modified_s, id
        );
    });
}

// Its name counts as seen, so that it is not read again; a person decides about it.
void FetchReportsWorker::set_aside(const pawl::SftpEntry& entry, const std::string& why) {
    const auto name = stored_name(entry.name);
    pawl::log::limited_warning("report_set_aside", {}, {{"file", name}, {"why", why}}, 20);
    const auto hash = pawl::bank::sha256(
        "unread\n" + entry.name + "\n" + std::to_string(entry.size) + "\n" +
        std::to_string(entry.modified_s)
    );
    database_.write([&](pawl::Tx& tx) {
        const std::vector<std::byte> none;
        const auto made =
            pawl::execute(tx, sql::insert_unread_report, hash, name, none, tx.now(), why);
        const auto id = pawl::query_one<std::int64_t>(tx, sql::find_report_of_hash, hash);
        if (made > 0) set_named_aside(tx, id, {});
        pawl::execute(
            tx, sql::insert_report_name, name, stored_size(entry.size), entry.modified_s, id
        );
    });
}

void FetchReportsWorker::fetch(pawl::Call& call, const pawl::SftpEntry& entry) {
    const auto max = sftp_.options().file_max;
    if (entry.size > max)
        return set_aside(
            entry, "it has " + std::to_string(entry.size) + " bytes: at most " + std::to_string(max)
        );
    const auto bytes = sftp_.read(call, outbox_ + "/" + entry.name);
    if (bytes.size() != entry.size)  // Written meanwhile; the next tick reads it.
        return pawl::log::limited_warning(
            "report_still_written", {}, {{"file", stored_name(entry.name)}}, 20
        );
    try {
        store(entry, bytes);
    } catch (const pawl::StoreError& error) {
        if (error.transient() || error.effect() == pawl::StoreError::Effect::in_doubt) throw;
        set_aside(entry, std::string{"the database refuses it: "} + error.what());
    }
}

// The kinds are those of one file; the others are the server's, and end the round.
std::optional<pawl::SftpError> FetchReportsWorker::fetch_or_note(
    pawl::Call& call, const pawl::SftpEntry& entry
) {
    using Kind = pawl::SftpError::Kind;
    try {
        fetch(call, entry);
    } catch (const pawl::SftpError& error) {
        const auto kind = error.kind();
        if (kind == Kind::too_large) {  // It has grown since it was listed.
            set_aside(entry, error.what());
            return std::nullopt;
        }
        if (kind != Kind::refused && kind != Kind::lost) throw;
        pawl::log::limited_warning(
            "report_not_read",
            stored_name(entry.name),
            {{"file", stored_name(entry.name)}, {"why", error.what()}}
        );
        if (kind == Kind::lost) return error;
    }
    return std::nullopt;
}

pawl::JobResult FetchReportsWorker::work(pawl::Call& call, const pawl::Job<FetchReports>&) {
    std::set<Seen> seen;
    database_.write([](pawl::Tx& tx) { stage_stopped_reports(tx); });
    database_.read([&](pawl::Snapshot& read) {
        for (auto& one : pawl::query<Seen>(read, sql::list_report_names))
            seen.insert(std::move(one));
    });
    auto entries = sftp_.list(call, outbox_);
    // In the order of their names, as numbers mostly are. Large ones last: one that takes longer
    // than the job may holds up no other.
    // clang 14 does not compile std::ranges::stable_partition.
    std::stable_partition(entries.begin(), entries.end(), [](const auto& one) {
        return one.size < large;
    });
    if (entries.size() >= sftp_.options().entries_max)
        pawl::log::warning("outbox_too_full", {{"read", entries.size()}});
    std::optional<pawl::SftpError> lost;
    int lost_in_turn = 0;
    for (const auto& entry : entries) {
        if (is_temporary(entry.name) ||
            seen.contains({stored_name(entry.name), stored_size(entry.size), entry.modified_s}))
            continue;
        auto failed = fetch_or_note(call, entry);
        lost_in_turn = failed ? lost_in_turn + 1 : 0;
        if (lost_in_turn == lost_max) throw *failed;
        if (failed) lost = std::move(failed);
    }
    if (lost) throw *lost;  // The others are here; the job is tried again for these.
    return pawl::done;
}

}  // namespace payouts
