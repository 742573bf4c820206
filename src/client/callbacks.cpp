#include "src/client/callbacks.hpp"

#include "src/core/assert.hpp"

#include <utility>
#include <vector>

namespace pawl::client {

// Only one step is active at a time: start(), a try's end or a timer.
struct Callbacks::Pending {
    http::OutgoingRequest request;
    RetryMachine machine;
    Done done;
    bool waits{false};  // Waits for a timer (under the mutex); otherwise a try is in flight.
};

Callbacks::Callbacks(const Retrying& retrying, http::Transfers& transfers, base::Clock& clock)
    : retrying_{retrying}, transfers_{transfers}, timers_{clock} {}

Callbacks::~Callbacks() {
    PAWL_ASSERT(pending_.empty());
}

void Callbacks::stop() {
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
    }
    timers_.stop();
    std::vector<std::shared_ptr<Pending>> waiting;
    {
        const std::lock_guard lock{mutex_};
        for (const auto& each : pending_)
            if (each->waits) waiting.push_back(each);
    }
    for (const auto& each : waiting) end(each, each->machine.given_up("the client has ended"));
}

void Callbacks::start(http::OutgoingRequest request, Repeat again, Done done) {
    auto machine = retrying_.machine_of(request, again);
    auto next = machine.next();
    const auto pending =
        std::make_shared<Pending>(Pending{std::move(request), std::move(machine), std::move(done)});
    {
        const std::lock_guard lock{mutex_};
        pending_.insert(pending);
    }
    go_on(pending, std::move(next));
}

void Callbacks::end(const std::shared_ptr<Pending>& pending, ClientResult how) {
    pending->done(std::move(how));
    const std::lock_guard lock{mutex_};
    pending_.erase(pending);
}

void Callbacks::go_on(const std::shared_ptr<Pending>& pending, RetryMachine::Next next) {
    if (auto* how = std::get_if<ClientResult>(&next)) return end(pending, std::move(*how));
    bool stopping = false;
    const auto* wait = std::get_if<RetryMachine::Wait>(&next);
    {
        const std::lock_guard lock{mutex_};
        stopping = stopping_;
        if (!stopping) pending->waits = wait != nullptr;
    }
    if (stopping) return end(pending, pending->machine.given_up("the client has ended"));
    if (wait != nullptr)
        return timers_.after(wait->wait, [this, pending] {
            {
                const std::lock_guard lock{mutex_};
                if (stopping_) return;  // stop() ends it.
                pending->waits = false;
            }
            go_on(pending, pending->machine.next());
        });
    transfers_.start(
        with_timeout(pending->request, std::get<RetryMachine::Send>(next)),
        [this, pending](http::Sent sent) {
            go_on(pending, pending->machine.after(std::move(sent)));
        }
    );
}

}  // namespace pawl::client
