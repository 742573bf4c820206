#pragma once

// Internal to the listener, like connection.hpp.

#include "src/http/io_thread.hpp"
#include "src/http/trusted_proxies.hpp"

#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pawl::http {

// Lets one warning of a kind through per minute, with the number of times it happened meanwhile.
class WarningThrottle {
public:
    // How many times it happened since the last warning; 0: no warning is due yet.
    std::size_t count(SteadyTime now);

private:
    std::size_t since_{0};
    SteadyTime next_{};
};

// Accepts connections, and gives each to the next io_thread in turn. At connections_max it closes
// one that waits for its client to make room for each new one: first the one without a request for
// the longest time, then those that are sending a head or were refused, then those that have been
// slow with a body or with reading for a second. If all requests are being handled, new connections
// stay in the backlog. Used on the first io_thread's thread only.
class Acceptor {
public:
    // Binds and listens at once; throws std::system_error that names the address. `io_threads` is
    // filled before begin(), and outlives the acceptor.
    Acceptor(
        const ListenerOptions& options,
        base::OnWarning on_warning,
        asio::io_context& io,
        const std::vector<std::unique_ptr<IoThread>>& io_threads
    );

    void begin();
    // Accepts what is in the backlog, as these clients may have sent a request, and then no more.
    // From any thread; the future is ready once the io_threads have these connections.
    std::future<void> stop();
    void on_closed(AddressPrefix address);  // An accepted connection was closed. From any thread.
    std::uint16_t port() const;
    tcp::acceptor::executor_type executor() { return acceptor_.get_executor(); }

private:
    void next();
    void accept_one();
    void on_accepted(IoThread& io_thread, boost::system::error_code error, tcp::socket socket);
    void accept_rest();
    void on_failed(boost::system::error_code error);
    void wait_for_room();
    void make_room();
    void try_again_after(std::chrono::milliseconds wait);
    void warn(std::string_view event, std::string_view code, std::string detail);

    const ListenerOptions& options_;
    base::OnWarning on_warning_;
    const std::vector<std::unique_ptr<IoThread>>& io_threads_;
    const TrustedProxies proxies_;
    tcp::acceptor acceptor_;
    asio::steady_timer again_;
    std::unordered_map<AddressPrefix, int> open_by_address_;
    int open_{0};  // Connections of all io_threads.
    std::size_t next_io_thread_{0};
    bool accepting_{false};
    bool waiting_{false};  // Waits for a connection in the backlog.
    bool stopping_{false};
    SteadyTime making_room_until_{};  // Until then, one is being closed: that is enough.
    WarningThrottle full_;
    WarningThrottle over_address_limit_;
    WarningThrottle failed_;
};

}  // namespace pawl::http
