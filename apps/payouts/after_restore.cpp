#include "apps/payouts/after_restore.hpp"

#include <pawl/log.hpp>

#include "apps/payouts/cancel_file.hpp"
#include "apps/payouts/send_file.hpp"
#include "payouts/statements.hpp"

#include <optional>
#include <set>

namespace payouts {

namespace {

constexpr const char* waited =
    "the database was restored, and a person may have refused it since the backup: `release` it, "
    "or all such by `payouts files after-restore --release-waiting`";

// A row of find_file_to_name.
struct KnownFile {
    std::string sha256;
    std::optional<std::string> sent_at;
    std::optional<std::string> given_up_at;
    std::optional<std::string> cancelled_at;
};

std::string name_of_file(std::int64_t number) {
    return "file " + std::to_string(number);
}

// The numbers have no gap, so a file that is not named was forgotten, or never reached the bank.
void check_gap(pawl::Tx& tx, const RestoreAnswer& answer) {
    std::set<std::int64_t> told{answer.never_sent.begin(), answer.never_sent.end()};
    for (const auto& file : answer.files)
        if (told.contains(file.number))
            throw Refused{name_of_file(file.number) + " is named, and as never sent"};
    for (const auto& file : answer.files)
        if (!told.insert(file.number).second)
            throw Refused{name_of_file(file.number) + " is named twice"};
    auto next = pawl::query_one<std::int64_t>(tx, sql::find_next_file);
    for (const auto number : told) {
        if (number < next) continue;
        if (number > next)
            throw Refused{
                name_of_file(next) +
                " is missing: name it, too, or if the bank never got it, add --never-sent " +
                std::to_string(next)};
        ++next;
    }
}

void check_known(const SentFile& file, const KnownFile& known) {
    if (known.given_up_at && known.cancelled_at) return;  // It never reached the bank.
    if (known.sent_at)
        throw Refused{
            "this database has sent another " + file.name + ": the bank has one of the two only"};
    throw Refused{
        "this database has another " + file.name +
        ", which is not sent: settle its request as "
        "give-up (`payouts keys list --operation send_file`), then `payouts files cancel " +
        std::to_string(file.number) + "`, then name this file again"};
}

void keep_file(pawl::Tx& tx, const BankFormat& format, const SentFile& file) {
    const auto now = tx.now();
    const auto hash = pawl::bank::sha256(file.bytes);
    const auto known = pawl::query_maybe<KnownFile>(tx, sql::find_file_to_name, file.number);
    if (known && known->sha256 != hash) check_known(file, *known);
    const auto payouts = std::ssize(file.payouts);
    if (!known)
        pawl::execute(
            tx,
            sql::insert_file,
            file.number,
            file.name,
            now,
            date_of(now),
            bytes_of(file.bytes),
            hash,
            payouts,
            file.amount,
            format.currency()
        );
    else if (known->sha256 != hash || known->given_up_at || known->cancelled_at) {
        const auto bytes = bytes_of(file.bytes);
        pawl::execute(tx, sql::reopen_file, file.number, bytes, hash, payouts, file.amount);
        pawl::execute(tx, sql::forget_moves, file.number);
    }
    if (pawl::execute(tx, sql::keep_sent, file.number, now) == 1)
        pawl::execute(tx, sql::mark_sent, file.number);
    for (const auto& payout : file.payouts)
        pawl::send(
            tx,
            sql::insert_lost_payout,
            payout.end_to_end_id,
            file.number,
            payout.amount,
            payout.creditor_account
        );
}

// A row of list_overtaken_files.
struct OvertakenFile {
    std::int64_t number{};
    std::int64_t in_request{};  // 1: a request may be sending it.
};

// The bank has some of their payouts in another file, so they must not be sent.
std::int64_t cancel_overtaken(pawl::Tx& tx) {
    const auto overtaken = pawl::query<OvertakenFile>(tx, sql::list_overtaken_files);
    for (const auto& file : overtaken)
        if (file.in_request > 0)
            throw Refused{
                "the bank has payouts of " + name_of_file(file.number) +
                " in one of these files, and a request of this database sends it: settle that "
                "request as give-up (`payouts keys list --operation send_file`), then try again"};
    const auto now = tx.now();
    for (const auto& [number, in_request] : overtaken) {
        pawl::execute(tx, sql::give_up_file, number, now);
        move_payouts_out(tx, number, now);
    }
    return std::ssize(overtaken);
}

struct Kept {
    std::int64_t found{};
    std::int64_t differ{};
};
Kept keep_found(pawl::Tx& tx) {
    const auto found = pawl::execute(tx, sql::add_lost_to_file);
    pawl::execute(tx, sql::mark_lost_sent);
    return {found, pawl::execute(tx, sql::set_aside_lost)};
}

}  // namespace

bool restore_is_open(pawl::Tx& tx, const char* what) {
    const auto epoch = pawl::query_maybe<std::int64_t>(tx, sql::find_open_restore);
    if (!epoch) return false;
    pawl::log::limited_warning(
        "bank_files_wait",
        {},
        {{"what", what},
         {"epoch", *epoch},
         {"why",
          "this database was restored: say which files the bank has, by `payouts files "
          "after-restore`"}},
        20
    );
    return true;
}

void keep_lost_payouts(pawl::Tx& tx) {
    keep_found(tx);
}

AnsweredRestore answer_restore(
    pawl::Tx& tx, const BankFormat& format, const RestoreAnswer& answer, const Decider& who
) {
    pawl::execute(tx, sql::lock_next_file);
    if (pawl::query_one<std::int64_t>(tx, sql::count_restores) == 0)
        throw Refused{
            "this database was never restored, as far as it knows: see `payouts restored`"};
    check_gap(tx, answer);
    AnsweredRestore done{.files = std::ssize(answer.files)};
    std::string names;
    for (const auto& file : answer.files) {
        keep_file(tx, format, file);
        done.payouts += std::ssize(file.payouts);
        names += " " + file.name;
        pawl::execute(tx, sql::raise_next_file, file.number + 1);
    }
    for (const auto number : answer.never_sent) pawl::execute(tx, sql::raise_next_file, number + 1);
    done.cancelled = cancel_overtaken(tx);
    const auto kept = keep_found(tx);
    done.found = kept.found;
    done.differ = kept.differ;
    done.in_other_files = pawl::query_one<std::int64_t>(tx, sql::count_lost_in_other_files);
    const std::string why{waited};
    if (answer.release_waiting)
        pawl::execute(tx, sql::release_waiting, why);
    else if (pawl::query_maybe<std::int64_t>(tx, sql::find_open_restore))
        done.waiting = pawl::execute(tx, sql::set_aside_waiting, why);
    done.unsent = pawl::query_one<std::int64_t>(tx, sql::count_unsent_files);
    done.next_number = pawl::query_one<std::int64_t>(tx, sql::find_next_file);
    pawl::execute(tx, sql::answer_restores, tx.now());
    audit(tx, who, "after-restore", answer.files.empty() ? "no file" : "files" + names);
    stage_next_file(tx);
    return done;
}

}  // namespace payouts
