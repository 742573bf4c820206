#include "apps/rides/receipt.hpp"

#include "rides/statements.hpp"

#include <stdexcept>
#include <utility>

namespace rides {

namespace {

std::string message_for(const pawl::Job<SendReceipt>& job) {
    const auto cents = job.args.amount % 100;
    const auto sum =
        std::to_string(job.args.amount / 100) + (cents < 10 ? ".0" : ".") + std::to_string(cents);
    const auto ride = std::to_string(job.args.ride.value);
    return "From: Rocket Rides <receipts@rides.example>\r\nTo: " + job.args.email +
           "\r\nSubject: Your receipt for ride " + ride + "\r\nMessage-ID: <" + job.id +
           "@rides.example>" +
           "\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nThank you for "
           "flying with us.\r\n" +
           "Ride " + ride + ": " + sum + " " + job.args.currency + "\r\n";
}

}  // namespace

ReceiptWorker::ReceiptWorker(pawl::http::Transfers& transfers, std::string smtp_url)
    : transfers_{transfers}, smtp_url_{std::move(smtp_url)} {}

pawl::JobResult PointsWorker::work(pawl::Tx& tx, const pawl::Job<AddPoints>& job) {
    pawl::send(tx, sql::add_points, job.args.user, job.args.points);
    return pawl::done;
}

pawl::JobResult ReceiptWorker::work(pawl::Call& call, const pawl::Job<SendReceipt>& job) {
    call.assert_open();
    const auto sent = transfers_.perform(
        pawl::http::Mail{
            .smtp_url = smtp_url_,
            .from = "receipts@rides.example",
            .to = job.args.email,
            .message = message_for(job)},
        call.stop()
    );
    if (const auto* arrived = std::get_if<pawl::http::Arrived>(&sent)) {
        if (arrived->status < 400) return pawl::done;
        if (arrived->status >= 500)
            return pawl::discard("the mail server refuses it: " + std::to_string(arrived->status));
        throw std::runtime_error{"the mail server said " + std::to_string(arrived->status)};
    }
    if (const auto* lost = std::get_if<pawl::http::Lost>(&sent))
        throw std::runtime_error{"the mail may be sent: " + lost->why};
    throw std::runtime_error{"the mail was not sent: " + std::get<pawl::http::NotSent>(sent).why};
}

}  // namespace rides
