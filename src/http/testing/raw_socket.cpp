#include "src/http/testing/raw_socket.hpp"

#include "src/core/assert.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

namespace pawl::http::testing {

namespace {

// The number of a Content-Length header; the tests write it in this case only.
std::size_t length_in(std::string_view head) {
    constexpr std::string_view name = "Content-Length: ";
    const auto at = head.find(name);
    std::size_t length = 0;
    if (at != head.npos)
        std::from_chars(head.data() + at + name.size(), head.data() + head.size(), length);
    return length;
}

}  // namespace

RawSocket::RawSocket(int descriptor) : descriptor_{descriptor} {
    const timeval limit{10, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

RawSocket RawSocket::to(std::uint16_t port, const char* from) {
    constexpr int kind = SOCK_STREAM | SOCK_CLOEXEC;
    const int descriptor = ::socket(AF_INET, kind, 0);  // tidy: allow socket: a test's
    RawSocket made{descriptor};
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr_in own{};
    own.sin_family = AF_INET;
    PAWL_ASSERT(::inet_pton(AF_INET, from, &own.sin_addr) == 1);
    const void* plain_own = &own;
    PAWL_ASSERT(::bind(descriptor, static_cast<const sockaddr*>(plain_own), sizeof own) == 0);
    const void* plain = &address;
    const auto* peer = static_cast<const sockaddr*>(plain);
    const int failed = ::connect(descriptor, peer, sizeof address);  // tidy: allow socket: a test's
    PAWL_ASSERT(failed == 0);
    return made;
}

RawSocket::RawSocket(RawSocket&& other) noexcept
    : descriptor_{std::exchange(other.descriptor_, -1)}, buffer_{std::move(other.buffer_)} {}

RawSocket::~RawSocket() {
    close();
}

bool RawSocket::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

bool RawSocket::read_more() {
    std::array<char, 16UL * 1024> bytes{};
    const auto got = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
    if (got <= 0) return false;
    buffer_.append(bytes.data(), static_cast<std::size_t>(got));
    return true;
}

std::string RawSocket::read_all() {
    while (read_more()) {
    }
    return std::exchange(buffer_, {});
}

std::string RawSocket::read_until(std::string_view mark) {
    while (buffer_.find(mark) == buffer_.npos)
        if (!read_more()) return std::exchange(buffer_, {});
    return read_exactly(buffer_.find(mark) + mark.size());
}

std::string RawSocket::read_exactly(std::size_t count) {
    while (buffer_.size() < count && read_more()) {
    }
    auto text = buffer_.substr(0, count);
    buffer_.erase(0, text.size());
    return text;
}

std::string RawSocket::read_message() {
    auto message = read_until("\r\n\r\n");
    return message + read_exactly(length_in(message));
}

bool RawSocket::at_end() {
    char next = 0;
    const auto got = ::recv(descriptor_, &next, 1, MSG_PEEK);
    return buffer_.empty() && (got == 0 || (got < 0 && errno == ECONNRESET));
}

void RawSocket::half_close() {
    ::shutdown(descriptor_, SHUT_WR);
}

void RawSocket::close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

void RawSocket::reset() {
    const linger at_once{1, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
}

void RawSocket::small_receive_buffer() {
    const int bytes = 64 * 1024;
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

}  // namespace pawl::http::testing
