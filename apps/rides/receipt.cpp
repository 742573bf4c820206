#include "apps/rides/receipt.hpp"

#include "apps/rides/riders.hpp"
#include "rides/statements.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace rides {

namespace {

constexpr std::string_view tls_off = "?tls=off";

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

MailServer mail_server(const std::string& smtp_url) {
    const auto query = std::min(smtp_url.find('?'), smtp_url.size());
    const auto url = smtp_url.substr(0, query);
    return {url, smtp_url.substr(query) != tls_off && !is_loopback_url(url)};
}

std::optional<std::string> smtp_problem(const std::string& smtp_url) {
    const auto query = std::min(smtp_url.find('?'), smtp_url.size());
    const auto scheme_end = smtp_url.find("://");
    const auto scheme = smtp_url.substr(0, std::min(scheme_end, smtp_url.size()));
    if ((scheme != "smtp" && scheme != "smtps") || scheme_end + 3 >= query)
        return "--smtp-url is " + smtp_url + ": smtp:// or smtps:// and a host";
    const auto said = smtp_url.substr(query);
    if (said.empty() || (said == tls_off && scheme == "smtp")) return std::nullopt;
    return "--smtp-url is " + smtp_url +
           ": only ?tls=off may follow the host, and only for smtp://";
}

ReceiptWorker::ReceiptWorker(const std::string& smtp_url) : server_{mail_server(smtp_url)} {}

pawl::JobResult PointsWorker::work(pawl::Tx& tx, const pawl::Job<AddPoints>& job) {
    pawl::send(tx, sql::add_points, job.args.user, job.args.points);
    return pawl::done;
}

pawl::JobResult ReceiptWorker::work(pawl::Call& call, const pawl::Job<SendReceipt>& job) {
    const auto end = mails_.send(
        call,
        {.smtp_url = server_.url,
         .tls_required = server_.tls_required,
         .from = "receipts@rides.example",
         .to = job.args.email,
         .message = message_for(job)}
    );
    if (const auto* answer = std::get_if<MailAnswer>(&end)) {
        if (answer->status < 400) return pawl::done;
        if (answer->status >= 500)
            return pawl::discard("the mail server refused it: " + std::to_string(answer->status));
        throw std::runtime_error{"the mail server said " + std::to_string(answer->status)};
    }
    if (const auto* lost = std::get_if<MailLost>(&end))
        throw std::runtime_error{"the mail may be sent: " + lost->why};
    throw std::runtime_error{"the mail was not sent: " + std::get<MailNotSent>(end).why};
}

}  // namespace rides
