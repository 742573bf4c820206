#include "src/http/testing/raw_server.hpp"

#include "src/core/assert.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace pawl::http::testing {

namespace {

int bound_socket(std::uint16_t& port) {
    const int made =
        ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);  // tidy: allow socket: a test's
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    void* plain = &address;
    socklen_t size = sizeof address;
    const int failed = ::bind(made, static_cast<const sockaddr*>(plain), size);
    PAWL_ASSERT(failed == 0);
    ::getsockname(made, static_cast<sockaddr*>(plain), &size);
    port = ntohs(address.sin_port);
    return made;
}

}  // namespace

RawServer::RawServer(Script script) : script_{std::move(script)}, listening_{bound_socket(port_)} {
    const int failed = ::listen(listening_, 128);
    PAWL_ASSERT(failed == 0);
    thread_ = std::thread{[this] { accept_all(); }};
}

RawServer::~RawServer() {
    wait_for_scripts();
    ::close(listening_);
}

void RawServer::wait_for_scripts() {
    stop_listening();
    if (thread_.joinable()) thread_.join();
    for (auto& talk : talks_)
        if (talk.joinable()) talk.join();
}

void RawServer::accept_all() {
    while (true) {
        const int accepted = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
        if (accepted < 0) return;  // No longer listening.
        const std::lock_guard lock{mutex_};
        talks_.emplace_back([this, accepted] {
            RawSocket socket{accepted};
            script_(*this, socket);
        });
    }
}

void RawServer::saw(std::string what) {
    const std::lock_guard lock{mutex_};
    seen_.push_back(std::move(what));
}

std::vector<std::string> RawServer::seen() const {
    const std::lock_guard lock{mutex_};
    return seen_;
}

int RawServer::connections() const {
    const std::lock_guard lock{mutex_};
    return static_cast<int>(talks_.size());
}

void RawServer::stop_listening() {
    ::shutdown(listening_, SHUT_RDWR);
}

std::uint16_t closed_port() {
    std::uint16_t port = 0;
    ::close(bound_socket(port));
    return port;
}

}  // namespace pawl::http::testing
