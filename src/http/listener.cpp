#include "src/http/listener.hpp"

#include "src/core/assert.hpp"
#include "src/core/thread_name.hpp"
#include "src/http/connection.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <charconv>
#include <condition_variable>
#include <system_error>

namespace pawl::http {

using boost::system::error_code;

namespace {

constexpr std::chrono::milliseconds sweep_every{100};

tcp::endpoint endpoint_of(const std::string& listen) {
    const auto colon = listen.rfind(':');
    auto host = listen.substr(0, colon);
    if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
    if (host == "localhost") host = "127.0.0.1";
    error_code error;
    const auto address = asio::ip::make_address(host, error);
    unsigned port = 0;
    const char* first = listen.data() + colon + 1;
    const auto [end, bad] = std::from_chars(first, listen.data() + listen.size(), port);
    if (colon == listen.npos || error || bad != std::errc{} ||
        end != listen.data() + listen.size() || port > 65'535)
        throw std::system_error{
            std::make_error_code(std::errc::invalid_argument),
            "listen is " + listen +
                ": an address and a port, such as 127.0.0.1:8080 or [::1]:8080"};
    return {address, static_cast<std::uint16_t>(port)};
}

}  // namespace

Responder::Responder(std::shared_ptr<Exchange> exchange) : exchange_{std::move(exchange)} {}
Responder::Responder(Responder&&) noexcept = default;
Responder& Responder::operator=(Responder&&) noexcept = default;

Responder::~Responder() {
    if (exchange_ && !exchange_->answered) (*this)(Reply{.status = 500});
}

void Responder::operator()(Reply reply) {
    PAWL_ASSERT(exchange_ && !exchange_->answered);
    exchange_->answered = true;
    exchange_->mailbox->put(exchange_->connection, std::move(reply));
}

std::optional<std::string> ListenerOptions::problem() const {
    if (line_max < 256) return "line_max is " + std::to_string(line_max) + ": at least 256 bytes";
    if (headers_max < 1024)
        return "headers_max is " + std::to_string(headers_max) + ": at least 1024 bytes";
    if (connections_max < 1)
        return "connections_max is " + std::to_string(connections_max) + ": at least 1";
    if (header_timeout.count() < 1) return "header_timeout is not positive";
    return std::nullopt;
}

struct Listener::Impl {
    Impl(ListenerOptions options, Handlers handlers)
        : shared{std::make_shared<Shared>()}, acceptor{io}, sweep_timer{io}, accept_again{io} {
        shared->options = std::move(options);
        shared->handlers = std::move(handlers);
        shared->mailbox = std::make_shared<Mailbox>(io);
        shared->on_closed = [this] { connection_closed(); };
        const auto& address = shared->options.listen;
        try {
            const auto endpoint = endpoint_of(address);
            acceptor.open(endpoint.protocol());
            acceptor.set_option(tcp::acceptor::reuse_address{true});
            acceptor.bind(endpoint);
            acceptor.listen(asio::socket_base::max_listen_connections);
        } catch (const boost::system::system_error& failed) {
            throw std::system_error{
                std::error_code{failed.code().value(), std::system_category()},
                "can't listen on " + address};
        }
    }

    void accept() {
        if (shared->stopping || accepting) return;
        if (shared->open.size() >= static_cast<std::size_t>(shared->options.connections_max))
            return;
        accepting = true;
        acceptor.async_accept([this](error_code error, tcp::socket socket) {
            accepting = false;
            if (shared->stopping) return;
            if (error) {
                // No descriptor left, or the like: try again soon instead of spinning.
                accept_again.expires_after(sweep_every);
                accept_again.async_wait([this](error_code cancelled) {
                    if (!cancelled) accept();
                });
                return;
            }
            auto connection = std::make_shared<HttpConnection>(std::move(socket), shared);
            shared->open.insert(connection);
            connection->begin();
            accept();
        });
    }

    void connection_closed() {
        if (shared->stopping) {
            if (shared->open.empty()) work.reset();
            return;
        }
        asio::post(io, [this] { accept(); });
    }

    void sweep() {
        sweep_timer.expires_after(sweep_every);
        sweep_timer.async_wait([this](error_code cancelled) {
            if (cancelled) return;
            const auto now =
                std::chrono::steady_clock::now();  // tidy: allow clock: time-outs of sockets
            const std::vector<std::shared_ptr<HttpConnection>> open{
                shared->open.begin(), shared->open.end()};
            for (const auto& connection : open) connection->check_deadline(now);
            sweep();
        });
    }

    void begin_stop(std::chrono::milliseconds drain) {
        shared->stopping = true;
        error_code ignored;
        acceptor.close(ignored);
        const std::vector<std::shared_ptr<HttpConnection>> open{
            shared->open.begin(), shared->open.end()};
        for (const auto& connection : open) connection->stop_when_idle();
        if (shared->open.empty() || drain.count() == 0) return finish_stop();
        stop_timer.emplace(io, drain);
        stop_timer->async_wait([this](error_code) { finish_stop(); });
        watch_end();
    }

    void watch_end() {
        watch_timer.emplace(io, std::chrono::milliseconds{20});
        watch_timer->async_wait([this](error_code cancelled) {
            if (cancelled) return;
            if (shared->open.empty()) return finish_stop();
            watch_end();
        });
    }

    void finish_stop() {
        const std::vector<std::shared_ptr<HttpConnection>> open{
            shared->open.begin(), shared->open.end()};
        for (const auto& connection : open) connection->close();
        io.stop();
    }

    asio::io_context io{1};
    std::shared_ptr<Shared> shared;
    tcp::acceptor acceptor;
    asio::steady_timer sweep_timer;
    asio::steady_timer accept_again;
    std::optional<asio::steady_timer> stop_timer;
    std::optional<asio::steady_timer> watch_timer;
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work{
        io.get_executor()};
    bool accepting{false};
    std::thread thread;
};

Listener::Listener(ListenerOptions options, Handlers handlers)
    : impl_{std::make_unique<Impl>(std::move(options), std::move(handlers))} {}

Listener::~Listener() {
    stop(std::chrono::milliseconds{0});
}

void Listener::start() {
    impl_->thread = std::thread{[impl = impl_.get()] {
        core::name_this_thread("pawl-http");
        impl->shared->mailbox->set_thread(std::this_thread::get_id());
        impl->accept();
        impl->sweep();
        impl->io.run();
    }};
}

std::uint16_t Listener::port() const {
    error_code ignored;
    return impl_->acceptor.local_endpoint(ignored).port();
}

void Listener::after(std::chrono::milliseconds wait, std::function<void()> f) {
    auto timer =
        std::make_shared<asio::steady_timer>(impl_->io, wait);  // Owned by its own handler.
    timer->async_wait([timer, f = std::move(f)](error_code cancelled) {
        if (!cancelled) f();
    });
}

void Listener::stop(std::chrono::milliseconds drain) {
    if (impl_->thread.joinable()) {
        asio::post(impl_->io, [this, drain] { impl_->begin_stop(drain); });
        impl_->thread.join();
    }
    impl_->shared->mailbox->close();
    impl_->shared->on_closed = nullptr;
}

}  // namespace pawl::http
