#pragma once

#include <pawl/call.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <variant>

namespace rides {

struct Mail {
    std::string smtp_url;  // smtp://host:port or smtps://
    bool tls_required{};   // smtp: STARTTLS, or nothing is sent. smtps has it in any case.
    std::string from;
    std::string to;
    std::string message;  // Headers, empty line, text (RFC 5322); line ends become CRLF.
    std::chrono::milliseconds timeout{std::chrono::seconds{30}};
};

struct MailAnswer {
    int status{};  // Of SMTP: below 400 the server has the mail; from 400 on it certainly has not.
};
struct MailNotSent {  // The server has seen nothing of the message.
    std::string why;
};
struct MailLost {  // Some of the message was sent, and no answer came.
    std::string why;
};
using MailEnd = std::variant<MailAnswer, MailNotSent, MailLost>;

// Sends by libcurl, and keeps connections for the next mails. Thread-safe.
class MailSender {
public:
    MailSender();
    ~MailSender();
    MailSender(MailSender&&) noexcept;
    MailSender& operator=(MailSender&&) noexcept;

    // Blocks, at most for the time-out, or until the stop of the call.
    MailEnd send(const pawl::Call& call, const Mail& mail);

private:
    struct Connections;
    std::unique_ptr<Connections> connections_;
};

}  // namespace rides
