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

std::int64_t count(pawl::Tx& tx, const pawl::Statement<0>& what) {
    return pawl::query_one<std::int64_t>(tx, what);
}

// The numbers have no gap, so a file that is not named was forgotten, or never reached the bank.
void check_gap(pawl::Tx& tx, const RestoreAnswer& answer) {
    auto next = count(tx, sql::find_next_file);
    std::set<std::int64_t> told{answer.never_sent.begin(), answer.never_sent.end()};
    if (!told.empty() && *told.begin() < next)
        throw Refused{
            name_of_file(*told.begin()) + " is not lost: this database's next one is " +
            std::to_string(next)};
    for (const auto& file : answer.files)
        if (told.contains(file.number))
            throw Refused{name_of_file(file.number) + " is named, and as never sent"};
    for (const auto& file : answer.files)
        if (!told.insert(file.number).second)
            throw Refused{name_of_file(file.number) + " is named twice"};
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

// Of an other file under the number.
void check_unsent(const SentFile& file, const KnownFile& known) {
    if (known.sent_at || (known.given_up_at && known.cancelled_at)) return;
    throw Refused{
        "this database has another " + file.name +
        ", which is not sent: settle its request as "
        "give-up (`payouts keys list --operation send_file`), then `payouts files cancel " +
        std::to_string(file.number) + "`, then name this file again"};
}

// The bank has two files with the number: ours stays, and a person looks at what the other one has.
bool is_second(const KnownFile& known) {
    return known.sent_at && !known.given_up_at;
}

void keep_file(pawl::Tx& tx, const BankFormat& format, const SentFile& file) {
    const auto now = tx.now();
    const auto hash = pawl::bank::sha256(file.bytes);
    const auto known = pawl::query_maybe<KnownFile>(tx, sql::find_file_to_name, file.number);
    const bool other = known && known->sha256 != hash;
    if (other) check_unsent(file, *known);
    const bool second = other && is_second(*known);
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
    else if (!second && (other || known->given_up_at || known->cancelled_at)) {
        const auto bytes = bytes_of(file.bytes);
        pawl::execute(tx, sql::reopen_file, file.number, bytes, hash, payouts, file.amount);
        pawl::execute(tx, sql::forget_moves, file.number);
    }
    if (!second && pawl::execute(tx, sql::keep_sent, file.number, now) == 1)
        pawl::execute(tx, sql::mark_sent, file.number);
    for (const auto& payout : file.payouts)
        pawl::send(
            tx,
            sql::insert_lost_payout,
            payout.end_to_end_id,
            file.number,
            second ? 0 : payout.amount,
            payout.creditor_account
        );
}

// A row of list_overtaken_files and list_unsent_of_backup.
struct UnsentFile {
    std::int64_t number{};
    std::int64_t in_request{};  // 1: a request may be sending it.
};

std::int64_t cancel_unsent(
    pawl::Tx& tx, const pawl::Statement<0>& which, const std::string& unless
) {
    const auto found = pawl::query<UnsentFile>(tx, which);
    for (const auto& file : found)
        if (file.in_request > 0)
            throw Refused{
                "a request of this database sends " + name_of_file(file.number) +
                ": settle it as give-up (`payouts keys list --operation send_file`), then try "
                "again" +
                unless};
    const auto now = tx.now();
    for (const auto& [number, in_request] : found) {
        pawl::execute(tx, sql::give_up_file, number, now);
        move_payouts_out(tx, number, now);
    }
    return std::ssize(found);
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
    pawl::execute(tx, sql::add_lost_to_file);
    pawl::execute(tx, sql::mark_lost_sent);
    pawl::execute(tx, sql::set_aside_lost);
}

void settle_moved_payouts(pawl::Tx& tx, std::int64_t file) {
    keep_lost_payouts(tx);
    pawl::execute(tx, sql::set_aside_moved, std::string{waited}, file);
}

AnsweredRestore answer_restore(
    pawl::Tx& tx, const BankFormat& format, const RestoreAnswer& answer, const Decider& who
) {
    pawl::execute(tx, sql::lock_next_file);
    if (count(tx, sql::count_restores) == 0)
        throw Refused{
            "this database was never restored, as far as it knows: see `payouts restored`"};
    const bool open = pawl::query_maybe<std::int64_t>(tx, sql::find_open_restore).has_value();
    if (open && answer.files.empty() && answer.never_sent.empty() && !answer.none)
        throw Refused{
            "a restore waits for an answer: name the files that the bank has got since the "
            "backup, or say --none"};
    check_gap(tx, answer);
    AnsweredRestore done{.files = std::ssize(answer.files)};
    const auto found_before = count(tx, sql::count_lost_found);
    std::string names;
    for (const auto& file : answer.files) {
        keep_file(tx, format, file);
        done.payouts += std::ssize(file.payouts);
        names += " " + file.name;
        pawl::execute(tx, sql::raise_next_file, file.number + 1);
    }
    for (const auto number : answer.never_sent) pawl::execute(tx, sql::raise_next_file, number + 1);
    keep_lost_payouts(tx);
    done.cancelled = cancel_unsent(tx, sql::list_overtaken_files, "");
    const std::string why{waited};
    if (answer.release_waiting)
        done.released = pawl::execute(tx, sql::release_waiting, why);
    else if (open) {
        done.cancelled += cancel_unsent(
            tx,
            sql::list_unsent_of_backup,
            "; or --release-waiting, if nobody has given up a file, or refused a payout, since "
            "the backup"
        );
        done.waiting = pawl::execute(tx, sql::set_aside_waiting, why);
    }
    done.found = count(tx, sql::count_lost_found) - found_before;
    done.differ = count(tx, sql::count_lost_set_aside);
    done.refused = count(tx, sql::count_lost_refused);
    done.in_other_files = count(tx, sql::count_lost_in_other_files);
    done.unsent = count(tx, sql::count_unsent_files);
    done.next_number = count(tx, sql::find_next_file);
    pawl::execute(tx, sql::answer_restores, tx.now());
    audit(
        tx,
        who,
        "after-restore",
        (answer.files.empty() ? std::string{"no file"} : "files" + names) + ", " +
            std::to_string(done.waiting) + " payouts set aside, " + std::to_string(done.released) +
            " released"
    );
    stage_next_file(tx);
    return done;
}

}  // namespace payouts
