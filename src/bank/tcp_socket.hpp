#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>

namespace pawl::bank {

// A connected TCP socket that does not block. Throws SftpError (unreachable, stopped).
class TcpSocket {
public:
    struct Place {
        std::string host;
        std::uint16_t port{};
    };
    TcpSocket(const Place& place, std::chrono::milliseconds timeout, const std::stop_token& stop);
    ~TcpSocket();
    TcpSocket(const TcpSocket&) = delete;
    TcpSocket& operator=(const TcpSocket&) = delete;

    int descriptor() const { return descriptor_; }

    enum class Ready { yes, too_late, stopped };
    // Waits until the socket has one of poll's events.
    static Ready wait(
        int descriptor,
        short events,
        std::chrono::steady_clock::time_point deadline,
        const std::stop_token& stop
    );

private:
    int descriptor_{-1};
};

}  // namespace pawl::bank
