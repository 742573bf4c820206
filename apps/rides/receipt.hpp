#pragma once

#include <pawl/call.hpp>
#include <pawl/job.hpp>
#include <pawl/tx.hpp>

#include "apps/rides/mail.hpp"
#include "apps/rides/rides.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace rides {

struct SendReceipt {
    static constexpr std::string_view kind = "send_receipt";
    RideId ride{};
    std::int64_t amount{};
    std::string currency;
    std::string email;
};

// Frequent-flier points, one for each dollar.
struct AddPoints {
    static constexpr std::string_view kind = "add_points";
    std::int64_t user{};
    std::int64_t points{};
};

// Its write and the mark that the job is done commit together: points are added exactly once, even
// after a crash.
class PointsWorker {
public:
    pawl::JobResult work(pawl::Tx& tx, const pawl::Job<AddPoints>& job);
};

// The mail server. Mails to another host need TLS: receipts contain who rode, and what they paid.
// "smtp://host?tls=off" sends them unencrypted.
struct MailServer {
    std::string url;
    bool tls_required{};
};
MailServer mail_server(const std::string& smtp_url);
// The problem with --smtp-url; nullopt: none.
std::optional<std::string> smtp_problem(const std::string& smtp_url);

// Mails receipts. SMTP has no keys: after a kill between the mail server's 250 and our mark the
// mail is sent again, with the same Message-ID, which is made from the job's id.
class ReceiptWorker {
public:
    explicit ReceiptWorker(const std::string& smtp_url);
    pawl::JobResult work(pawl::Call& call, const pawl::Job<SendReceipt>& job);

private:
    MailServer server_;
    MailSender mails_;
};

}  // namespace rides
