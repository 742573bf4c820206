#pragma once

#include "src/http/testing/raw_socket.hpp"

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace pawl::http::testing {

// For tests: runs a script for each connection, on a thread of its own. The scripts record what
// they receive.
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
    void wait_for_scripts();  // Waits for the scripts of all connections so far; accepts no more.
    void stop_listening();    // Later connections are refused.

private:
    void accept_all();

    Script script_;
    std::uint16_t port_{};
    int listening_;  // Declared after port_, which its initializer sets.
    mutable std::mutex mutex_;
    std::vector<std::string> seen_;
    std::vector<std::thread> talks_;
    std::thread thread_;
};

// A port on which nothing listens.
std::uint16_t closed_port();

}  // namespace pawl::http::testing
