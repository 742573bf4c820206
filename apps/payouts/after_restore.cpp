#include "apps/payouts/after_restore.hpp"

#include <pawl/log.hpp>

#include "apps/payouts/send_file.hpp"
#include "payouts/statements.hpp"

namespace payouts {

namespace {

// Files that are equal to one of the database may be unsent there.
void keep_file(pawl::Tx& tx, const BankFormat& format, const SentFile& file) {
    const auto now = tx.now();
    const auto hash = pawl::bank::sha256(file.bytes);
    const auto known = pawl::query_maybe<std::string>(tx, sql::find_file_hash, file.number);
    if (known && *known != hash)
        throw Refused{
            "this database has another " + file.name +
            ": settle its request as give-up, and cancel it by `payouts files cancel " +
            std::to_string(file.number) + "`"};
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
            std::ssize(file.payouts),
            file.amount,
            format.currency()
        );
    if (pawl::execute(tx, sql::keep_sent, file.number, now) == 1)
        pawl::execute(tx, sql::mark_sent, file.number);
    for (const auto& payout : file.payouts)
        pawl::send(tx, sql::insert_lost_payout, payout.end_to_end_id, file.number, payout.amount);
}

// The bank has not got them, and must not: some of their payouts are in a file that it has.
std::int64_t cancel_overtaken(pawl::Tx& tx) {
    const auto overtaken = pawl::query<std::int64_t>(tx, sql::list_overtaken_files);
    for (const auto number : overtaken) {
        const auto now = tx.now();
        pawl::execute(tx, sql::give_up_file, number, now);
        pawl::execute(tx, sql::move_out, number, now);
        pawl::execute(tx, sql::collect_again, number);
        pawl::execute(tx, sql::leave_file, number);
        pawl::execute(tx, sql::cancel_file, number, now);
    }
    return std::ssize(overtaken);
}

struct Kept {
    std::int64_t found{};
    std::int64_t set_aside{};
};
Kept keep_found(pawl::Tx& tx) {
    const auto found = pawl::execute(tx, sql::add_lost_to_file);
    pawl::execute(tx, sql::mark_lost_sent);
    return {found, pawl::execute(tx, sql::set_aside_lost)};
}

}  // namespace

bool restore_is_open(pawl::Tx& tx, const char* why_not) {
    const auto epoch = pawl::query_maybe<std::int64_t>(tx, sql::find_open_restore);
    if (!epoch) return false;
    pawl::log::limited_warning(
        "bank_files_wait",
        {},
        {{"what", why_not},
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
    pawl::Tx& tx, const BankFormat& format, const std::vector<SentFile>& files, const Decider& who
) {
    pawl::execute(tx, sql::lock_next_file);
    const auto restores = pawl::query_one<std::int64_t>(tx, sql::count_restores);
    if (restores == 0)
        throw Refused{
            "this database was never restored, as far as it knows: see `payouts restored`"};
    AnsweredRestore done{.files = std::ssize(files)};
    std::string names;
    for (const auto& file : files) {
        keep_file(tx, format, file);
        pawl::execute(tx, sql::raise_next_file, file.number + 1);
        done.payouts += std::ssize(file.payouts);
        names += " " + file.name;
    }
    done.cancelled = cancel_overtaken(tx);
    const auto kept = keep_found(tx);
    done.found = kept.found;
    done.set_aside = kept.set_aside;
    done.next_number = pawl::query_one<std::int64_t>(tx, sql::find_next_file);
    pawl::execute(tx, sql::answer_restores, tx.now());
    audit(tx, who, "after-restore", files.empty() ? "the bank has no file" : "files" + names);
    stage_next_file(tx);
    return done;
}

}  // namespace payouts
