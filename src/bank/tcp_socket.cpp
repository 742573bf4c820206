#include "src/bank/tcp_socket.hpp"

#include <pawl/sftp.hpp>

#include "src/base/clock.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

namespace pawl::bank {

namespace {

using Clock = std::chrono::steady_clock;
using Kind = SftpError::Kind;
using namespace std::chrono_literals;

constexpr auto stop_interval = 100ms;  // How long a stop of the service may go unnoticed.

struct FreeAddresses {
    void operator()(addrinfo* found) const { ::freeaddrinfo(found); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

std::string text_of(const TcpSocket::Place& place) {
    return place.host + ":" + std::to_string(place.port);
}

Addresses resolve(const TcpSocket::Place& place) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const auto port = std::to_string(place.port);
    const int failed = ::getaddrinfo(place.host.c_str(), port.c_str(), &wanted, &found);
    if (failed != 0)
        throw SftpError{
            Kind::unreachable, "no address of " + text_of(place) + ": " + ::gai_strerror(failed)};
    return Addresses{found};
}

// 0: connected; else the errno.
int connect_to(
    int descriptor, const addrinfo& address, Clock::time_point deadline, const std::stop_token& stop
) {
    // It does not block, and no transaction is open, because the caller has a Call.
    const auto* to = address.ai_addr;
    if (::connect(descriptor, to, address.ai_addrlen) == 0)  // tidy: allow socket: see above
        return 0;
    if (errno != EINPROGRESS) return errno;
    switch (TcpSocket::wait(descriptor, POLLOUT, deadline, stop)) {
        case TcpSocket::Ready::too_late:
            return ETIMEDOUT;
        case TcpSocket::Ready::stopped:
            throw SftpError{Kind::stopped, "the service stops"};
        case TcpSocket::Ready::yes:
            break;
    }
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
    return error;
}

}  // namespace

TcpSocket::Ready TcpSocket::wait(
    int descriptor, short events, Clock::time_point deadline, const std::stop_token& stop
) {
    while (!stop.stop_requested()) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline - base::system_clock().steady()
        );
        if (left.count() <= 0) return Ready::too_late;
        pollfd one{descriptor, events, 0};
        const auto found =
            ::poll(&one, 1, static_cast<int>(std::min(left, stop_interval + 0ms).count()));
        if (found > 0) return Ready::yes;
    }
    return Ready::stopped;
}

TcpSocket::TcpSocket(
    const Place& place, std::chrono::milliseconds timeout, const std::stop_token& stop
) {
    const auto addresses = resolve(place);
    const auto deadline = base::system_clock().steady() + timeout;
    int error = 0;
    for (const auto* one = addresses.get(); one != nullptr; one = one->ai_next) {
        descriptor_ = ::socket(  // tidy: allow socket: as in connect_to()
            one->ai_family,
            SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
            one->ai_protocol
        );
        error = descriptor_ < 0 ? errno : connect_to(descriptor_, *one, deadline, stop);
        if (error == 0) {
            const int on = 1;
            ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            return;
        }
        if (descriptor_ >= 0) ::close(descriptor_);
        descriptor_ = -1;
    }
    throw SftpError{
        Kind::unreachable,
        text_of(place) + " does not answer: " + std::system_category().message(error)};
}

TcpSocket::~TcpSocket() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace pawl::bank
