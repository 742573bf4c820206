#pragma once

#include "src/base/timers.hpp"
#include "src/client/retrying.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <unordered_set>

namespace pawl::client {

// Asynchronous requests: tries run on the transfers' thread, waits on a timer thread. Thread-safe.
class Callbacks {
public:
    using Done = std::function<void(ClientResult)>;
    // `retrying` and `clock` outlive it. The transfers must end between stop() and the destructor,
    // which ends running tries.
    Callbacks(const Retrying& retrying, http::Transfers& transfers, base::Clock& clock);
    ~Callbacks();

    void stop();  // Ends the waiting requests now, and tries no more.

    void start(http::OutgoingRequest request, Repeat again, Done done);

private:
    struct Pending;
    void go_on(const std::shared_ptr<Pending>& pending, RetryMachine::Next next);
    void end(const std::shared_ptr<Pending>& pending, ClientResult how);

    const Retrying& retrying_;
    http::Transfers& transfers_;
    std::mutex mutex_;
    bool stopping_{false};
    std::unordered_set<std::shared_ptr<Pending>> pending_;
    base::TimerThread timers_;  // Last: its thread uses the members above.
};

}  // namespace pawl::client
