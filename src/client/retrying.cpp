#include "src/client/retrying.hpp"

#include "src/base/options.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace pawl::client {

namespace {

void real_wait(std::chrono::milliseconds wait, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock{mutex};
    stopped.wait_for(lock, stop, wait, [&] { return stop.stop_requested(); });
}

}  // namespace

Retrying::Parts Retrying::over(
    http::Transfers& transfers, base::Clock& clock, base::Random& random
) {
    auto send = [&transfers](http::OutgoingRequest request, std::stop_token stop) {
        return transfers.perform(std::move(request), std::move(stop));
    };
    return {.send = std::move(send), .clock = clock, .random = random, .wait = &real_wait};
}

Retrying::Retrying(Parts parts, Limits limits)
    : parts_{std::move(parts)},
      servers_{std::make_unique<Servers>(limits.budget, limits.breaker)},
      rules_{
          base::checked(limits.retry, "pawl::core::RetryRule"),
          *servers_,
          parts_.clock,
          parts_.random,
          std::move(limits.on_try)},
      one_try_{rules_} {
    one_try_.retry.repeats = false;
}

RetryMachine Retrying::machine_of(const http::OutgoingRequest& request, Repeat again) const {
    return RetryMachine{rules_, again, server_of(request.url)};
}

http::OutgoingRequest with_timeout(
    const http::OutgoingRequest& request, const RetryMachine::Send& send
) {
    auto one = request;
    one.timeout = std::min(request.timeout, send.timeout_max);
    return one;
}

ClientResult Retrying::perform(
    const http::OutgoingRequest& request, Repeat again, const std::stop_token& stop
) const {
    return run(machine_of(request, again), request, stop);
}

ClientResult Retrying::try_once(const http::OutgoingRequest& request, const std::stop_token& stop)
    const {
    return run(RetryMachine{one_try_, Repeat::never, server_of(request.url)}, request, stop);
}

ClientResult Retrying::run(
    RetryMachine machine, const http::OutgoingRequest& request, const std::stop_token& stop
) const {
    auto next = machine.next();
    while (true) {
        if (auto* end = std::get_if<ClientResult>(&next)) return std::move(*end);
        if (stop.stop_requested()) return machine.given_up("it was stopped");
        if (const auto* wait = std::get_if<RetryMachine::Wait>(&next)) {
            parts_.wait(wait->wait, stop);
            if (stop.stop_requested()) return machine.given_up("it was stopped");
            next = machine.next();
            continue;
        }
        auto sent = parts_.send(with_timeout(request, std::get<RetryMachine::Send>(next)), stop);
        if (stop.stop_requested() && !std::holds_alternative<http::IncomingResponse>(sent))
            return machine.stopped(sent);
        next = machine.after(std::move(sent));
    }
}

}  // namespace pawl::client
