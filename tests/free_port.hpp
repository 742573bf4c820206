#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace pawl::testing {

// A port of the loopback that is free at this moment. Another process may take it first: then the
// caller tries the next one.
inline int free_port() {
    const int probe = ::socket(AF_INET, SOCK_STREAM, 0);  // tidy: allow socket: only to get a port
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* plain = static_cast<sockaddr*>(static_cast<void*>(&address));
    if (::bind(probe, plain, size) != 0 || ::getsockname(probe, plain, &size) != 0)
        throw std::runtime_error{"no port is free"};
    ::close(probe);
    return ntohs(address.sin_port);
}

}  // namespace pawl::testing
