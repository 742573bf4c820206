#include "src/http/listener.hpp"

#include "src/core/assert.hpp"
#include "src/http/endpoint.hpp"
#include "src/http/lane.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

namespace pawl::http {

using boost::system::error_code;

namespace {

constexpr std::chrono::milliseconds accept_again_after{100};

tcp::endpoint checked_endpoint(const std::string& listen) {
    if (const auto endpoint = endpoint_of(listen)) return *endpoint;
    throw std::system_error{
        std::make_error_code(std::errc::invalid_argument),
        "listen is " + listen + ": an address and a port, such as 127.0.0.1:8080 or [::1]:8080"};
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
    if (auto why = limits.problem()) return "limits." + *why;
    if (connections_max < 1)
        return "connections_max is " + std::to_string(connections_max) + ": at least 1";
    if (threads < 1 || threads > 256) return "threads is " + std::to_string(threads) + ": 1 to 256";
    return std::nullopt;
}

// Accepts on the thread of the first lane, and gives each connection to the next lane in turn.
struct Listener::Impl {
    Impl(const ListenerOptions& options_, const Handlers& handlers)
        : options{options_},
          lanes{make_lanes(handlers)},
          acceptor{lanes.front()->io()},
          accept_again{lanes.front()->io()} {
        try {
            const auto endpoint = checked_endpoint(options.listen);
            acceptor.open(endpoint.protocol());
            acceptor.set_option(tcp::acceptor::reuse_address{true});
            acceptor.bind(endpoint);
            acceptor.listen(asio::socket_base::max_listen_connections);
        } catch (const boost::system::system_error& failed) {
            throw std::system_error{
                std::error_code{failed.code().value(), std::system_category()},
                "can't listen on " + options.listen};
        }
    }

    std::vector<std::unique_ptr<Lane>> make_lanes(const Handlers& handlers) {
        std::vector<std::unique_ptr<Lane>> made;
        for (int i = 0; i < options.threads; ++i)
            made.push_back(std::make_unique<Lane>(options, handlers, [this] {
                asio::post(acceptor.get_executor(), [this] {
                    --open;
                    accept();
                });
            }));
        return made;
    }

    void accept() {
        if (stopping || accepting || open >= options.connections_max) return;
        accepting = true;
        auto& lane = *lanes[next];
        acceptor.async_accept(lane.io(), [this, &lane](error_code error, tcp::socket socket) {
            accepting = false;
            if (stopping) return;
            if (error) {
                // No descriptor left, or the like: try again soon instead of spinning.
                accept_again.expires_after(accept_again_after);
                accept_again.async_wait([this](error_code cancelled) {
                    if (!cancelled) accept();
                });
                return;
            }
            ++open;
            next = (next + 1) % lanes.size();
            lane.add(std::move(socket));
            accept();
        });
    }

    void begin_stop(std::chrono::milliseconds drain) {
        stopping = true;
        error_code ignored;
        acceptor.close(ignored);
        for (const auto& lane : lanes) lane->stop(drain);
    }

    const ListenerOptions options;
    std::vector<std::unique_ptr<Lane>> lanes;
    // All below is the first lane's.
    tcp::acceptor acceptor;
    asio::steady_timer accept_again;
    bool accepting{false};
    bool stopping{false};
    int open{0};  // Connections of all lanes.
    std::size_t next{0};
    bool started{false};
};

namespace {

ListenerOptions checked(ListenerOptions options) {
    if (auto why = options.problem()) throw std::invalid_argument{"ListenerOptions: " + *why};
    return options;
}

}  // namespace

Listener::Listener(const ListenerOptions& options, const Handlers& handlers)
    : impl_{std::make_unique<Impl>(checked(options), handlers)} {}

Listener::~Listener() {
    stop(std::chrono::milliseconds{0});
}

void Listener::start() {
    impl_->started = true;
    asio::post(impl_->acceptor.get_executor(), [impl = impl_.get()] { impl->accept(); });
    for (const auto& lane : impl_->lanes) lane->start();
}

std::uint16_t Listener::port() const {
    error_code ignored;
    return impl_->acceptor.local_endpoint(ignored).port();
}

void Listener::after(std::chrono::milliseconds wait, std::function<void()> f) {
    auto timer = std::make_shared<asio::steady_timer>(
        impl_->acceptor.get_executor(), wait
    );  // Owned by its own handler.
    timer->async_wait([timer, f = std::move(f)](error_code cancelled) {
        if (!cancelled) f();
    });
}

void Listener::stop(std::chrono::milliseconds drain) {
    if (!std::exchange(impl_->started, false)) return;
    asio::post(impl_->acceptor.get_executor(), [this, drain] { impl_->begin_stop(drain); });
    for (const auto& lane : impl_->lanes) lane->join();
}

}  // namespace pawl::http
