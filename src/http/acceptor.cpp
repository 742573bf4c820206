#include "src/http/acceptor.hpp"

#include "src/http/endpoint.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace pawl::http {

using boost::system::error_code;

namespace {

constexpr std::chrono::milliseconds accept_again_after{100};
constexpr std::chrono::milliseconds room_again_after{10};
// If it takes longer, its thread is held: another io_thread may have a connection that can be
// closed.
constexpr std::chrono::seconds room_made_within{1};
// How long a connection is slow with a body or with reading before it is closed for another.
constexpr std::chrono::seconds slow_after{1};

tcp::endpoint checked_endpoint(const std::string& listen) {
    if (const auto endpoint = endpoint_of(listen)) return *endpoint;
    throw std::system_error{
        std::make_error_code(std::errc::invalid_argument),
        "listen is " + listen + ": an address and a port, such as 127.0.0.1:8080 or [::1]:8080"};
}

}  // namespace

std::size_t WarningThrottle::count(SteadyTime now) {
    ++since_;
    if (now < next_) return 0;
    next_ = now + std::chrono::minutes{1};
    return std::exchange(since_, 0);
}

Acceptor::Acceptor(
    const ListenerOptions& options,
    base::OnWarning on_warning,
    asio::io_context& io,
    const std::vector<std::unique_ptr<IoThread>>& io_threads
)
    : options_{options},
      on_warning_{std::move(on_warning)},
      io_threads_{io_threads},
      proxies_{options.trusted_proxies},
      acceptor_{io},
      again_{io} {
    try {
        const auto endpoint = checked_endpoint(options.listen);
        acceptor_.open(endpoint.protocol());
        acceptor_.set_option(tcp::acceptor::reuse_address{true});
        acceptor_.bind(endpoint);
        acceptor_.listen(asio::socket_base::max_listen_connections);
    } catch (const boost::system::system_error& failed) {
        throw std::system_error{
            std::error_code{failed.code().value(), std::system_category()},
            "can't listen on " + options.listen};
    }
}

std::uint16_t Acceptor::port() const {
    error_code ignored;
    return acceptor_.local_endpoint(ignored).port();
}

void Acceptor::begin() {
    asio::post(executor(), [this] { next(); });
}

std::future<void> Acceptor::stop() {
    auto stopped = std::make_shared<std::promise<void>>();
    auto done = stopped->get_future();
    asio::post(executor(), [this, stopped] {
        stopping_ = true;
        accept_rest();
        error_code ignored;
        acceptor_.close(ignored);
        stopped->set_value();
    });
    return done;
}

void Acceptor::accept_rest() {
    error_code error;
    acceptor_.non_blocking(true, error);
    while (!error && open_ < options_.connections_max) {
        auto& io_thread = *io_threads_[next_io_thread_];
        tcp::socket socket{io_thread.io()};
        acceptor_.accept(socket, error);  // tidy: allow blocking: set to non-blocking above
        if (!error) on_accepted(io_thread, error, std::move(socket));
    }
}

void Acceptor::on_closed(AddressPrefix address) {
    asio::post(executor(), [this, address] {
        --open_;
        making_room_until_ = {};
        const auto at = open_by_address_.find(address);
        if (at != open_by_address_.end() && --at->second == 0) open_by_address_.erase(at);
        next();
    });
}

void Acceptor::next() {
    if (stopping_ || accepting_) return;
    if (open_ >= options_.connections_max) return wait_for_room();
    accept_one();
}

void Acceptor::accept_one() {
    accepting_ = true;
    auto& io_thread = *io_threads_[next_io_thread_];
    acceptor_.async_accept(
        io_thread.io(),
        [this, &io_thread](error_code error, tcp::socket socket) {
            accepting_ = false;
            if (stopping_ && error) return;  // The acceptor was closed.
            on_accepted(io_thread, error, std::move(socket));
        }
    );
}

void Acceptor::on_accepted(IoThread& io_thread, error_code error, tcp::socket socket) {
    if (error) return on_failed(error);
    error_code ignored;
    const auto peer = socket.remote_endpoint(ignored).address().to_string();
    const auto address = address_prefix(peer);
    auto& of_address = open_by_address_[address];
    const int limit = proxies_.contains(peer) ? 0 : options_.connections_per_address_max;
    if (limit > 0 && of_address >= limit) {
        socket.close(ignored);
        if (const auto closed = over_address_limit_.count(steady_now()))
            warn(
                "connections_of_address",
                "",
                peer + " has " + std::to_string(limit) + " connections already: closed " +
                    std::to_string(closed) +
                    " new ones; if it is a proxy, name it in trusted_proxies"
            );
        return next();
    }
    ++of_address;
    ++open_;
    next_io_thread_ = (next_io_thread_ + 1) % io_threads_.size();
    io_thread.add(std::move(socket), address);
    next();
}

// No descriptor is left, or the like: tries again soon instead of spinning.
void Acceptor::on_failed(error_code error) {
    const bool descriptors = error.value() == EMFILE || error.value() == ENFILE;
    if (descriptors) make_room();
    if (error != asio::error::connection_aborted)
        if (const auto times = failed_.count(steady_now()))
            warn(
                "accept_failed",
                descriptors ? "PAWL0014" : "",
                error.message() + ", " + std::to_string(times) + " times; " +
                    std::to_string(open_) + " connections are open"
            );
    try_again_after(accept_again_after);
}

// Waits until a connection is in the backlog, and closes another to make room for it.
void Acceptor::wait_for_room() {
    if (waiting_) return;
    waiting_ = true;
    acceptor_.async_wait(tcp::acceptor::wait_read, [this](error_code error) {
        waiting_ = false;
        if (error || stopping_ || accepting_) return;
        if (open_ < options_.connections_max) return accept_one();
        make_room();
        // The close calls next(); if none was closed, one may be idle soon.
        try_again_after(room_again_after);
    });
}

void Acceptor::make_room() {
    const auto now = steady_now();
    if (now < making_room_until_) return;
    for (const auto kind : {EvictionClass::idle, EvictionClass::unready, EvictionClass::slow}) {
        const auto longest = std::ranges::min_element(
            io_threads_,
            {},
            [kind](const std::unique_ptr<IoThread>& io_thread) {
                return io_thread->longest_since(kind);
            }
        );
        const auto since = (*longest)->longest_since(kind);
        const auto latest = kind == EvictionClass::slow ? now - slow_after : now;
        if (since > latest.time_since_epoch().count()) continue;
        making_room_until_ = now + room_made_within;
        (*longest)->close_longest(kind, [this] {
            asio::post(executor(), [this] { making_room_until_ = {}; });
        });
        if (const auto closed = full_.count(now))
            warn(
                "connections_full",
                "",
                std::to_string(open_) + " connections are open: closed " + std::to_string(closed) +
                    " that waited the longest, for new ones"
            );
        return;
    }
}

void Acceptor::try_again_after(std::chrono::milliseconds wait) {
    again_.expires_after(wait);
    again_.async_wait([this](error_code cancelled) {
        if (!cancelled) next();
    });
}

void Acceptor::warn(std::string_view event, std::string_view code, std::string detail) {
    if (on_warning_) on_warning_({event, code, std::move(detail)});
}

}  // namespace pawl::http
