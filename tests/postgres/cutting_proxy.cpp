#include "tests/postgres/cutting_proxy.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

namespace pawl::testing {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t size_bytes = 4;
constexpr char parse = 'P';
constexpr char bind = 'B';
constexpr char ready = 'Z';  // The server's, after the answers to one packet.

struct Address {
    std::string before;  // postgres://user@
    std::string host;
    std::string port;
    std::string behind;  // /database?parameters
};

Address address_of(const std::string& url) {
    const auto at = url.find('@') + 1;
    const auto colon = url.find(':', at);
    const auto slash = url.find('/', at);
    if (at == 0 || colon == url.npos || slash == url.npos)
        throw std::runtime_error{"no host and port in " + url};
    return {
        url.substr(0, at),
        url.substr(at, colon - at),
        url.substr(colon + 1, slash - colon - 1),
        url.substr(slash)};
}

// The nth of the zero-terminated texts at the start of a message.
std::string_view text_of(const std::string& body, int nth) {
    std::string_view rest{body};
    for (; nth > 0; --nth) rest.remove_prefix(std::min(rest.find('\0'), rest.size() - 1) + 1);
    return rest.substr(0, rest.find('\0'));
}

}  // namespace

struct CuttingProxy::Impl {
    // The two directions of a connection.
    struct Link {
        Link(tcp::socket from, tcp::socket to) : client{std::move(from)}, server{std::move(to)} {}
        tcp::socket client;
        tcp::socket server;
        std::atomic<bool> withholds{false};          // The server's answers are dropped.
        std::set<std::string, std::less<>> commits;  // Names of the statements that are COMMIT.
        std::thread up;
        std::thread down;

        // Also ends the threads of both directions.
        void cut() {
            error_code ignored;
            client.shutdown(tcp::socket::shutdown_both, ignored);
            server.shutdown(tcp::socket::shutdown_both, ignored);
        }
    };
    struct Message {
        char type{};
        std::string bytes;  // The whole message as it came.
        std::string body;
    };

    explicit Impl(const std::string& before) : address{address_of(before)} {
        acceptor.listen();
        const auto port = std::to_string(acceptor.local_endpoint().port());
        url = address.before + "127.0.0.1:" + port + address.behind +
              (address.behind.find('?') == std::string::npos ? "?" : "&") +
              "sslmode=disable&gssencmode=disable";
        accepting = std::thread{[this] { accept(); }};
    }

    void accept() {
        for (;;) {
            error_code failed;
            tcp::socket client{context};
            acceptor.accept(client, failed);
            if (failed || ending) return;
            tcp::socket server{context};
            asio::connect(
                server, tcp::resolver{context}.resolve(address.host, address.port), failed
            );
            if (failed) continue;
            client.set_option(tcp::no_delay{true});
            server.set_option(tcp::no_delay{true});
            const std::lock_guard lock{mutex};
            auto& link =
                *links.emplace_back(std::make_unique<Link>(std::move(client), std::move(server)));
            link.up = std::thread{[this, &link] { pass_up(link); }};
            link.down = std::thread{[&link] { pass_down(link); }};
        }
    }

    static Message read(tcp::socket& from, bool has_type) {
        Message message;
        std::array<unsigned char, 1 + size_bytes> head{};
        const auto head_bytes = size_bytes + (has_type ? 1 : 0);
        asio::read(from, asio::buffer(head.data(), head_bytes));
        if (has_type) message.type = static_cast<char>(head[0]);
        std::size_t size = 0;
        for (auto i = head_bytes - size_bytes; i < head_bytes; ++i) size = size << 8U | head.at(i);
        message.body.resize(size - size_bytes);
        asio::read(from, asio::buffer(message.body));
        message.bytes.assign(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(head_bytes));
        message.bytes += message.body;
        return message;
    }

    static bool commits(Link& link, const Message& message) {
        if (message.type == parse) {
            const std::string name{text_of(message.body, 0)};
            if (text_of(message.body, 1) == "COMMIT")
                link.commits.insert(name);
            else
                link.commits.erase(name);
        }
        return message.type == bind && link.commits.contains(text_of(message.body, 1));
    }

    void pass_up(Link& link) {
        try {
            for (bool has_type = false;; has_type = true) {
                const auto message = read(link.client, has_type);
                if (commits(link, message) && to_cut.fetch_sub(1) > 0) {
                    ++cut_off;
                    if (at == At::before_commit) break;
                    link.withholds = true;
                }
                asio::write(link.server, asio::buffer(message.bytes));
            }
        } catch (const boost::system::system_error&) {
        }
        link.cut();
    }

    static void pass_down(Link& link) {
        try {
            for (;;) {
                const auto message = read(link.server, true);
                if (!link.withholds)
                    asio::write(link.client, asio::buffer(message.bytes));
                else if (message.type == ready)
                    break;
            }
        } catch (const boost::system::system_error&) {
        }
        link.cut();
    }

    void end() {
        ending = true;
        error_code ignored;
        tcp::socket wakes{context};
        wakes.connect(acceptor.local_endpoint(), ignored);
        accepting.join();
        for (auto& link : links) {
            link->cut();
            link->up.join();
            link->down.join();
        }
    }

    const Address address;
    asio::io_context context;
    tcp::acceptor acceptor{context, tcp::endpoint{asio::ip::address_v4::loopback(), 0}};
    std::string url;
    std::atomic<bool> ending{false};
    std::atomic<int> to_cut{0};
    std::atomic<At> at{At::behind_commit};
    std::atomic<int> cut_off{0};
    std::mutex mutex;
    std::vector<std::unique_ptr<Link>> links;
    std::thread accepting;
};

CuttingProxy::CuttingProxy(const std::string& url) : impl_{std::make_unique<Impl>(url)} {}

CuttingProxy::~CuttingProxy() {
    impl_->end();
}

const std::string& CuttingProxy::url() const {
    return impl_->url;
}

void CuttingProxy::cut(int commits, At at) {
    impl_->at = at;
    impl_->to_cut = commits;
}

int CuttingProxy::cuts() const {
    return impl_->cut_off;
}

}  // namespace pawl::testing
