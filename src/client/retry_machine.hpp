#pragma once

#include <pawl/client.hpp>

#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/client/servers.hpp"
#include "src/core/client_retry.hpp"
#include "src/http/transfer.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <variant>

namespace pawl::client {

// What all requests of a client share. The referenced objects outlive it.
struct Rules {
    core::RetryRule retry;
    Servers& servers;
    base::Clock& clock;
    base::Random& random;
    std::function<void(const ClientTry&)> on_try{};
};

// Decides the next step of one request, from its first try to its end, without sending or waiting
// itself. Not thread-safe; the rules outlive it.
class RetryMachine {
public:
    // `again`: when a repeat is safe. safe_with_key: the request carries a key that this server
    // honours and that was saved before.
    RetryMachine(const Rules& rules, Repeat again, std::string server);

    struct Send {
        std::chrono::milliseconds timeout_max{};  // Until the deadline.
    };
    struct Wait {
        std::chrono::milliseconds wait{};
    };
    using Next = std::variant<Send, Wait, ClientResult>;

    Next next();  // Call at the beginning, and after each wait.
    Next after(http::Sent sent);
    GaveUp given_up(std::string why);        // Stopped from outside between tries,
    GaveUp stopped(const http::Sent& sent);  // or during one, which shows nothing of the server.

private:
    std::chrono::milliseconds spent() const;
    void report(Servers::Said said);
    Next again(const core::TryAgain& more, const http::Sent& sent);
    void tell(const http::Sent& sent, std::optional<std::chrono::milliseconds> again_in) const;
    ClientResult no_more(std::string why, http::Sent sent, bool doubt) const;

    const Rules& rules_;
    const std::string server_;
    const std::chrono::steady_clock::time_point began_;
    std::chrono::steady_clock::time_point try_began_;
    core::TryFacts facts_;
    std::optional<Servers::Pass> passed_;  // Set until the breaker is told the result.
};

}  // namespace pawl::client
