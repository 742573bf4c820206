#include "apps/payouts/cancel_file.hpp"

#include "apps/payouts/cut_off.hpp"
#include "apps/payouts/send_file.hpp"
#include "payouts/statements.hpp"

#include <optional>

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

FileState find_cancellable(pawl::Tx& tx, std::int64_t number) {
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
    if (answered > 0)
        throw Refused{
            name + " has " + std::to_string(answered) +
            " payouts that a report has named: the bank has accepted it"};
    return std::move(*file);
}

}  // namespace

CancelledFile cancel_file(pawl::Tx& tx, const CancelRequest& request, const Decider& who) {
    const auto number = request.number;
    auto file = find_cancellable(tx, number);
    for (const auto id : request.set_aside)
        if (pawl::execute(tx, sql::set_aside_payout_of_file, number, id, who.reason) == 0)
            throw Refused{name_of_payout(id) + " is not in the file"};
    const auto now = tx.now();
    const auto moved = pawl::execute(tx, sql::move_out, number, now);
    pawl::execute(tx, sql::collect_again, number);
    pawl::execute(tx, sql::leave_file, number);
    pawl::execute(tx, sql::cancel_file, number, now);
    audit(tx, who, "cancelled", "file " + std::to_string(number));
    if (request.cut_off_now) tx.stage(CutOff{now.time_since_epoch().count()});
    stage_next_file(tx);  // Others may have waited for this one.
    return {number, std::move(file.name), "cancelled", moved, std::ssize(request.set_aside)};
}

DecidedPayout release_payout(pawl::Tx& tx, std::int64_t id, const Decider& who) {
    if (pawl::execute(tx, sql::release_payout, id) == 0)
        throw Refused{name_of_payout(id) + " is not set aside"};
    audit(tx, who, "released", name_of_payout(id));
    return {id, "released"};
}

DecidedPayout refuse_payout(pawl::Tx& tx, std::int64_t id, const Decider& who) {
    if (pawl::execute(tx, sql::refuse_payout, id, who.reason) == 0)
        throw Refused{name_of_payout(id) + " is not set aside"};
    audit(tx, who, "refused", name_of_payout(id));
    return {id, "refused"};
}

}  // namespace payouts
