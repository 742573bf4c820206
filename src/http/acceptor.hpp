#pragma once

// Internal to the listener, as connection.hpp is.

#include "src/http/lane.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pawl::http {

// Lets one remark of a kind through a minute, with the count of what happened since.
class OnceAMinute {
public:
    // How many times it happened since the last remark; 0: a remark is not due yet.
    std::size_t count(SteadyTime now);

private:
    std::size_t since_{0};
    SteadyTime next_{};
};

// Accepts connections, and gives each to the next lane in turn. Once there are connections_max, one
// that waits for its client is closed for the next one: the one without a request for the longest
// time first, then those that are sending a head or were refused, then those that have been slow
// with a body or with reading for a second. If all are being handled, new ones stay in the backlog.
// On the first lane's thread.
class Acceptor {
public:
    // Binds and listens at once; throws std::system_error that names the address. `lanes` is filled
    // before begin(), and outlives the acceptor's work.
    Acceptor(
        const ListenerOptions& options,
        base::OnRemark on_remark,
        asio::io_context& io,
        const std::vector<std::unique_ptr<Lane>>& lanes
    );

    void begin();
    void stop();
    void on_closed(AddressKey address);  // From any thread: one of those that were accepted.
    std::uint16_t port() const;
    tcp::acceptor::executor_type executor() { return acceptor_.get_executor(); }

private:
    void next();
    void accept_one();
    void on_accepted(Lane& lane, boost::system::error_code error, tcp::socket socket);
    void on_failed(boost::system::error_code error);
    void wait_for_room();
    void make_room();
    void try_again_after(std::chrono::milliseconds wait);
    void remark(std::string_view event, std::string_view code, std::string detail);

    const ListenerOptions& options_;
    base::OnRemark on_remark_;
    const std::vector<std::unique_ptr<Lane>>& lanes_;
    tcp::acceptor acceptor_;
    asio::steady_timer again_;
    std::unordered_map<AddressKey, int> open_by_address_;
    int open_{0};  // Connections of all lanes.
    std::size_t next_lane_{0};
    bool accepting_{false};
    bool waiting_{false};  // For a connection in the backlog.
    bool stopping_{false};
    SteadyTime making_room_until_{};  // One is being closed: another would be one too many.
    OnceAMinute full_;
    OnceAMinute over_address_limit_;
    OnceAMinute failed_;
};

}  // namespace pawl::http
