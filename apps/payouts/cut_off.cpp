#include "apps/payouts/cut_off.hpp"

#include <pawl/log.hpp>

#include "apps/payouts/after_restore.hpp"
#include "apps/payouts/send_file.hpp"
#include "payouts/statements.hpp"

#include <numeric>
#include <stdexcept>

namespace payouts {

// Most files are written at the first try, so each payment alone is tried only after a failure.
void CutOffWorker::set_aside_unfit(pawl::Tx& tx, std::vector<Payment>& payments) {
    try {
        if (!payments.empty()) (void)format_.write({.number = 1, .number_of_day = 1}, payments);
        return;
    } catch (const std::invalid_argument&) {
    }
    std::erase_if(payments, [&](const Payment& payment) {
        const auto why = format_.problem(payment);
        if (!why) return false;
        pawl::execute(tx, sql::set_aside, payment.end_to_end_id, *why);
        pawl::log::warning(
            "payout_set_aside", {{"end_to_end_id", payment.end_to_end_id}, {"why", *why}}
        );
        return true;
    });
}

void CutOffWorker::freeze(pawl::Tx& tx, std::vector<Payment> payments, std::int64_t number_of_day) {
    set_aside_unfit(tx, payments);
    if (payments.empty()) return;
    const auto number = pawl::query_one<std::int64_t>(tx, sql::next_file_number);
    // The same payouts as listed: what was set aside makes no room for others.
    pawl::execute(tx, sql::add_to_file, number, static_cast<std::int64_t>(payments.size()));
    pawl::send(tx, sql::mark_in_file, number);
    const auto now = tx.now();
    const auto bytes = format_.write(
        {.number = number, .number_of_day = number_of_day, .created_at = now}, payments
    );
    const auto sum = std::accumulate(
        payments.begin(),
        payments.end(),
        std::int64_t{0},
        [](std::int64_t so_far, const Payment& payment) { return so_far + payment.amount; }
    );
    pawl::execute(
        tx,
        sql::insert_file,
        number,
        format_.file_name(number),
        now,
        date_of(now),
        bytes_of(bytes),
        pawl::bank::sha256(bytes),
        static_cast<std::int64_t>(payments.size()),
        sum,
        format_.currency()
    );
}

pawl::JobResult CutOffWorker::work(pawl::Tx& tx, const pawl::Job<CutOff>& job) {
    if (restore_is_open(tx, "a cut-off")) return pawl::done;
    keep_lost_payouts(tx);
    auto payments = pawl::query<Payment>(tx, sql::list_waiting, format_.payouts_max());
    const auto waiting = std::ssize(payments);
    if (waiting > 0) {
        const auto today =
            pawl::query_one<std::int64_t>(tx, sql::count_files_of_day, date_of(tx.now()));
        if (today >= format_.files_a_day_max()) {
            pawl::log::warning(
                "cut_off_put_off",
                {{"waiting", waiting},
                 {"why", "the format names " + std::to_string(today) + " files a day"}}
            );
        } else {
            freeze(tx, std::move(payments), today + 1);
            if (waiting == format_.payouts_max()) tx.stage(CutOff{job.args.tick_ms});
        }
    }
    stage_next_file(tx);
    return pawl::done;
}

}  // namespace payouts
