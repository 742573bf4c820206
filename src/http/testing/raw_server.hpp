#pragma once

#include "src/http/testing/raw_socket.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace pawl::http::testing {

// For tests: plays a script with each connection, on a thread of its own. The scripts write down
// what they saw.
class RawServer {
public:
    using Script = std::function<void(RawServer&, RawSocket&)>;
    explicit RawServer(Script script);
    ~RawServer();  // Waits for the scripts.

    std::uint16_t port() const { return port_; }
    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
    void saw(std::string what);
    std::vector<std::string> seen() const;
    int connections() const;
    void wait_for_scripts();  // Of all connections so far; none is taken from now on.
    void stop_listening();    // Whoever connects from now on is refused.

private:
    void accept_all();

    Script script_;
    std::uint16_t port_{};
    int listening_;  // Behind the port, which its making fills.
    mutable std::mutex mutex_;
    std::vector<std::string> seen_;
    std::vector<std::thread> talks_;
    std::thread thread_;
};

// A port on which nothing listens.
std::uint16_t closed_port();

}  // namespace pawl::http::testing
