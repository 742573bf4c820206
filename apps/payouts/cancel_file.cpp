#include "apps/payouts/cancel_file.hpp"

#include "apps/payouts/after_restore.hpp"
#include "apps/payouts/cut_off.hpp"
#include "apps/payouts/send_file.hpp"
#include "payouts/statements.hpp"

#include <optional>
#include <set>

namespace payouts {

namespace {

// A row of find_file_state.
struct FileState {
    std::int64_t number{};
    std::string name;
    std::optional<std::string> sent_at;
    std::optional<std::string> given_up_at;
    std::optional<std::string> cancelled_at;
};

std::string name_of_payout(std::int64_t id) {
    return "payout " + std::to_string(id);
}

FileState find_cancellable(pawl::Tx& tx, const CancelRequest& request) {
    const auto number = request.number;
    auto file = pawl::query_maybe<FileState>(tx, sql::find_file_state, number);
    const auto name = "file " + std::to_string(number);
    if (!file) throw Refused{"there is no " + name};
    if (file->cancelled_at) throw Refused{name + " was cancelled at " + *file->cancelled_at};
    if (!file->sent_at && !file->given_up_at)
        throw Refused{
            name +
            " is not sent, and a server may be sending it: only after its request on the "
            "attention list is settled as give-up may another file have its payouts"};
    const auto answered = pawl::query_one<std::int64_t>(tx, sql::count_answered, number);
    if (answered > 0 && !(request.keep_answered && file->given_up_at))
        throw Refused{
            name + " has " + std::to_string(answered) +
            " payouts that a report has named: the bank has accepted it" +
            (file->given_up_at ? ". --keep-answered moves the others" : "")};
    return std::move(*file);
}

// A row of list_open_reports.
struct OpenReport {
    std::int64_t id{};
    std::string state;
    std::int64_t since{};  // 1: it came after the file was made.
};

struct ItemOfFile {
    std::int64_t report_id{};
    std::string end_to_end_id;
};

[[noreturn]] void refuse_for(std::int64_t report, const std::string& why) {
    const auto id = std::to_string(report);
    throw Refused{
        "report " + id + " " + why + ": see `payouts reports show " + id +
        "`, then decide by `reports settle`, `skip` or `replace`"};
}

void check_open_reports(pawl::Tx& tx, const CancelRequest& request) {
    const auto file = "file " + std::to_string(request.number);
    const auto ours = pawl::query<std::string>(tx, sql::list_file_references, request.number);
    const std::set<std::string> payouts{ours.begin(), ours.end()};
    for (const auto& one : pawl::query<OpenReport>(tx, sql::list_open_reports, request.number)) {
        if (one.state == "fetched")
            refuse_for(one.id, "is not imported yet (try again) or its import is a dead letter");
        const auto found = request.stopped_reports.find(one.id);
        // Else the bank's file was not read at all, or the report has stopped meanwhile.
        const auto read = found == request.stopped_reports.end() ? NamedPayouts{} : found->second;
        for (const auto& id : read.end_to_end_ids)
            if (payouts.contains(id))
                refuse_for(one.id, "names " + id + ", which " + file + " has");
        if (!read.all && one.since > 0)
            refuse_for(one.id, "can't be read, or has an item without a payout: of " + file + "?");
    }
    if (const auto item = pawl::query_maybe<ItemOfFile>(tx, sql::find_item_of_file, request.number))
        refuse_for(
            item->report_id,
            item->end_to_end_id.empty()
                ? "has an item without a payout: of " + file + "?"
                : "has an item that names " + item->end_to_end_id + ", which " + file + " has"
        );
}

}  // namespace

std::map<std::int64_t, NamedPayouts> read_stopped_reports(
    pawl::Database& database, const BankFormat& format, std::int64_t file
) {
    std::vector<OpenReport> open;
    database.read([&](pawl::Snapshot& read) {
        open = pawl::query<OpenReport>(read, sql::list_open_reports, file);
    });
    std::map<std::int64_t, NamedPayouts> found;
    for (const auto& one : open)
        if (one.state == "stopped")
            found[one.id] = named_payouts(read_stored(database, format, one.id).read);
    return found;
}

CancelledFile cancel_file(pawl::Tx& tx, const CancelRequest& request, const Decider& who) {
    const auto number = request.number;
    pawl::execute(tx, sql::lock_next_file);
    auto file = find_cancellable(tx, request);
    check_open_reports(tx, request);
    for (const auto id : request.set_aside)
        if (pawl::execute(tx, sql::set_aside_payout_of_file, number, id, who.reason) == 0)
            throw Refused{name_of_payout(id) + " is not in the file"};
    const auto now = tx.now();
    const auto moved = move_payouts_out(tx, number, now);
    audit(tx, who, "cancelled", "file " + std::to_string(number));
    if (request.cut_off_now) tx.stage(CutOff{now.time_since_epoch().count()});
    stage_next_file(tx);  // Others may have waited for this one.
    return {number, std::move(file.name), "cancelled", moved, std::ssize(request.set_aside)};
}

std::int64_t move_payouts_out(pawl::Tx& tx, std::int64_t file, pawl::TimePoint now) {
    const auto moved = pawl::execute(tx, sql::move_out, file, now);
    pawl::execute(tx, sql::collect_again, file);
    pawl::execute(tx, sql::leave_file, file);
    pawl::execute(tx, sql::cancel_file, file, now);
    settle_moved_payouts(tx, file);
    return moved;
}

DecidedPayout release_payout(pawl::Tx& tx, std::int64_t id, const Decider& who) {
    if (pawl::execute(tx, sql::release_payout, id) == 0)
        throw Refused{name_of_payout(id) + " is not set aside"};
    audit(tx, who, "released", name_of_payout(id));
    return {id, "released"};
}

DecidedPayout refuse_payout(pawl::Tx& tx, std::int64_t id, const Decider& who) {
    if (restore_is_open(tx, "a refusal"))
        throw Refused{
            "this database was restored, and the bank may have " + name_of_payout(id) +
            ": first say which files it has, by `payouts files after-restore`"};
    if (pawl::execute(tx, sql::refuse_payout, id, who.reason) == 0)
        throw Refused{name_of_payout(id) + " is not set aside"};
    audit(tx, who, "refused", name_of_payout(id));
    return {id, "refused"};
}

}  // namespace payouts
