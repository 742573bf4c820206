#include "apps/standins/mail_catcher.hpp"

#include "apps/standins/provider_ledger.hpp"
#include "src/http/endpoint.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

namespace rides {

namespace asio = boost::asio;
namespace json = boost::json;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::size_t mail_max = 1024UL * 1024;

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    });
    return text;
}

std::string address_in(const std::string& line) {
    const auto from = line.find('<');
    const auto to = line.find('>');
    return from == line.npos || to == line.npos || to < from ? std::string{}
                                                             : line.substr(from + 1, to - from - 1);
}

std::string header_of(const std::string& text, const std::string& name) {
    const auto head = "\n" + text.substr(0, text.find("\r\n\r\n"));
    const auto at = upper(head).find("\n" + upper(name) + ":");
    if (at == head.npos) return {};
    const auto from = at + name.size() + 2;
    auto value = head.substr(from, head.find('\r', from) - from);
    return value.substr(std::min(value.find_first_not_of(' '), value.size()));
}

// One client. Its callbacks run on the catcher's thread, one after the other.
class SmtpSession : public std::enable_shared_from_this<SmtpSession> {
public:
    SmtpSession(tcp::socket socket, Ledger& mails, std::set<std::string>& put_off)
        : socket_{std::move(socket)}, in_{mail_max + 4096}, mails_{mails}, put_off_{put_off} {}
    void begin() { say("220 mail.rides.example ready"); }

private:
    void say(const std::string& line) {
        out_ = line + "\r\n";
        asio::async_write(
            socket_,
            asio::buffer(out_),
            [self = shared_from_this()](error_code error, std::size_t) {
                if (!error && !self->quit_) self->listen();
            }
        );
    }

    void listen() {
        asio::async_read_until(
            socket_,
            in_,
            in_data_ ? "\r\n.\r\n" : "\r\n",
            [self = shared_from_this()](error_code error, std::size_t size) {
                if (error) return;
                std::string text(size, '\0');
                self->in_.sgetn(text.data(), static_cast<std::streamsize>(size));
                if (self->in_data_)
                    self->on_mail(text.substr(0, size - 3));
                else
                    self->on_command(text.substr(0, size - 2));
            }
        );
    }

    void on_command(const std::string& line) {
        const auto command = upper(line.substr(0, 4));
        if (command == "EHLO") return say("250-mail.rides.example\r\n250 8BITMIME");
        if (command == "HELO" || command == "NOOP") return say("250 ok");
        if (command == "MAIL") {
            from_ = address_in(line);
            to_.clear();
            return say("250 ok");
        }
        if (command == "RCPT") {
            to_ = address_in(line);
            if (to_.empty() || to_.ends_with("@refused.example")) return say("550 no such mailbox");
            return say("250 ok");
        }
        if (command == "DATA") {
            if (to_.empty()) return say("503 RCPT first");
            in_data_ = true;
            return say("354 end with a dot");
        }
        if (command == "RSET") {
            to_.clear();
            return say("250 ok");
        }
        if (command == "QUIT") {
            quit_ = true;
            return say("221 bye");
        }
        say("500 unknown command");
    }

    void on_mail(std::string text) {
        in_data_ = false;
        for (auto at = text.find("\r\n.."); at != text.npos; at = text.find("\r\n..", at + 3))
            text.erase(at + 2, 1);
        const auto id = header_of(text, "Message-ID");
        if (to_.ends_with("@later.example") && put_off_.insert(id).second)
            return say("451 try again later");
        const json::object mail{
            {"from", from_},
            {"to", to_},
            {"message_id", id},
            {"subject", header_of(text, "Subject")},
            {"text", text}};
        mails_.append(json::serialize(mail), [self = shared_from_this()] {
            asio::post(self->socket_.get_executor(), [self] {
                if (self->to_.ends_with("@cut.example")) {
                    error_code ignored;
                    self->socket_.close(ignored);
                    return;
                }
                self->say("250 kept");
            });
        });
    }

    tcp::socket socket_;
    asio::streambuf in_;
    std::string out_;
    Ledger& mails_;
    std::set<std::string>& put_off_;
    std::string from_;
    std::string to_;
    bool in_data_{false};
    bool quit_{false};
};

tcp::endpoint checked_endpoint(const std::string& listen) {
    if (const auto endpoint = pawl::http::endpoint_of(listen)) return *endpoint;
    throw std::runtime_error{
        "--smtp is " + listen + ": an address and a port, such as 127.0.0.1:12525"};
}

}  // namespace

struct MailCatcher::Impl {
    Impl(const std::string& listen, const std::string& file)
        : mails{file, Ledger::Sync::yes}, acceptor{io} {
        try {
            const auto endpoint = checked_endpoint(listen);
            acceptor.open(endpoint.protocol());
            acceptor.set_option(tcp::acceptor::reuse_address{true});
            acceptor.bind(endpoint);
            acceptor.listen();
        } catch (const boost::system::system_error& failed) {
            throw std::runtime_error{"can't listen on " + listen + ": " + failed.code().message()};
        }
    }

    void accept() {
        acceptor.async_accept([this](error_code error, tcp::socket socket) {
            if (error) return;
            std::make_shared<SmtpSession>(std::move(socket), mails, put_off)->begin();
            accept();
        });
    }

    asio::io_context io{1};
    Ledger mails;
    std::set<std::string> put_off;  // Message-IDs that were greylisted once: accepted from then on.
    tcp::acceptor acceptor;
    std::thread thread;
};

MailCatcher::MailCatcher(const std::string& listen, const std::string& file)
    : impl_{std::make_unique<Impl>(listen, file)} {}
MailCatcher::~MailCatcher() {
    stop();
}

void MailCatcher::start() {
    impl_->thread = std::thread{[impl = impl_.get()] {
        impl->accept();
        impl->io.run();
    }};
}

std::uint16_t MailCatcher::port() const {
    return impl_->acceptor.local_endpoint().port();
}

void MailCatcher::stop() {
    impl_->io.stop();
    if (impl_->thread.joinable()) impl_->thread.join();
}

}  // namespace rides
