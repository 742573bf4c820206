#include "apps/rides/mail.hpp"

#include <pawl/testing.hpp>

#include "src/http/testing/raw_server.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>
#include <utility>
#include <vector>

namespace rides {
namespace {

using pawl::http::testing::RawServer;
using pawl::http::testing::RawSocket;

std::string sent(const Mail& mail) {
    pawl::testing::FakeCall call{"key"};
    const auto end = MailSender{}.send(call.keyed(), mail);
    if (std::holds_alternative<MailNotSent>(end)) return "not sent";
    if (std::holds_alternative<MailLost>(end)) return "lost";
    return std::to_string(std::get<MailAnswer>(end).status);
}

// Plays an SMTP server. `answers` is keyed by the first word of each command; "." stands for the
// end of the text.
RawServer::Script smtp_server(std::vector<std::pair<std::string, std::string>> answers) {
    return [answers = std::move(answers)](RawServer& server, RawSocket& socket) {
        auto answer = [&](const std::string& command) {
            for (const auto& [word, text] : answers)
                if (command.starts_with(word)) return text;
            return std::string{"250 ok"};
        };
        socket.send("220 ready\r\n");
        while (true) {
            auto line = socket.read_until("\r\n");
            if (line.empty()) return;
            if (line.starts_with("DATA")) {
                socket.send("354 go on\r\n");
                server.saw(socket.read_until("\r\n.\r\n"));
                line = ".";
            }
            const auto text = answer(line);
            if (text.empty()) return;  // Cut off.
            socket.send(text + "\r\n");
        }
    };
}

TEST(Mail, a_proxy_of_the_environment_gets_no_mail) {
    RawServer server{smtp_server({})};
    RawServer proxy{smtp_server({})};
    ::setenv("all_proxy", proxy.url().c_str(), 1);

    const auto end = sent(
        {.smtp_url = "smtp://127.0.0.1:" + std::to_string(server.port()),
         .from = "a@example.com",
         .to = "b@example.com",
         .message = "Hello"}
    );

    ::unsetenv("all_proxy");
    EXPECT_EQ(end, "250");
    EXPECT_EQ(proxy.connections(), 0);
}

TEST(Mail, ends_with_the_servers_answer) {
    struct Case {
        std::string name;
        std::vector<std::pair<std::string, std::string>> answers;
        std::string verdict;
        int texts;
    };
    const std::vector<Case> cases{
        {"taken", {}, "250", 1},
        {"taken, then closed", {{".", "250 kept"}, {"QUIT", ""}}, "250", 1},
        {"no such mailbox", {{"RCPT", "550 no such mailbox"}}, "550", 0},
        {"come later", {{"RCPT", "451 greylisted"}}, "451", 0},
        {"sender refused", {{"MAIL", "530 who are you"}}, "530", 0},
        {"text refused", {{".", "554 spam"}}, "554", 1},
        {"text put off", {{".", "452 disk full"}}, "452", 1},
        {"cut off after the text", {{".", ""}}, "lost", 1},
        {"cut off at MAIL", {{"MAIL", ""}}, "not sent", 0},
        {"cut off at RCPT", {{"RCPT", ""}}, "not sent", 0},
        {"cut off at EHLO", {{"EHLO", ""}}, "not sent", 0},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.name);
        RawServer server{smtp_server(c.answers)};

        const auto end = sent(
            {.smtp_url = "smtp://127.0.0.1:" + std::to_string(server.port()),
             .from = "a@example.com",
             .to = "b@example.com",
             .message = "Subject: x\n\nHello\n.\nstill here"}
        );

        EXPECT_EQ(end, c.verdict);
        EXPECT_EQ(server.seen().size(), static_cast<std::size_t>(c.texts));
    }
}

TEST(Mail, has_crlf_lines_and_a_dot_in_the_text_does_not_end_it) {
    RawServer server{smtp_server({})};

    (void)sent(
        {.smtp_url = "smtp://127.0.0.1:" + std::to_string(server.port()),
         .from = "a@example.com",
         .to = "b@example.com",
         .message = "Subject: x\n\none\n.\ntwo\rthree\r\nfour"}
    );

    ASSERT_EQ(server.seen().size(), 1U);
    EXPECT_EQ(server.seen()[0], "Subject: x\r\n\r\none\r\n..\r\ntwo\r\nthree\r\nfour\r\n.\r\n");
}

// Without TLS anyone on the way could read who rode where (issue 16, number 10).
TEST(Mail, that_needs_tls_is_not_sent_to_a_server_without_it) {
    RawServer server{smtp_server({})};
    const auto url = "smtp://127.0.0.1:" + std::to_string(server.port());
    const auto send = [&](bool tls_required) {
        return sent(
            {.smtp_url = url,
             .tls_required = tls_required,
             .from = "a@example.com",
             .to = "b@example.com",
             .message = "Subject: x\n\ntext\n"}
        );
    };

    EXPECT_EQ(send(true), "not sent");
    EXPECT_TRUE(server.seen().empty());
    EXPECT_EQ(send(false), "250");
}

TEST(Mail, refused_connections_and_addresses_were_not_sent) {
    RawServer server{smtp_server({})};
    Mail mail{
        .smtp_url = "smtp://127.0.0.1:" + std::to_string(pawl::http::testing::closed_port()),
        .from = "a@example.com",
        .to = "b@example.com",
        .message = "Subject: x\n\nHello"};
    EXPECT_EQ(sent(mail), "not sent");

    mail.smtp_url = "smtp://127.0.0.1:" + std::to_string(server.port());
    for (const auto* to :
         {"", "b@example.com>\r\nRCPT TO:<c@example.com", "b@example.com> SIZE=1"}) {
        SCOPED_TRACE(to);
        mail.to = to;
        EXPECT_EQ(sent(mail), "not sent");
    }
    EXPECT_EQ(server.connections(), 0);
}

}  // namespace
}  // namespace rides
