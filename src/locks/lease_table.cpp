#include "src/locks/lease_table.hpp"

#include <pawl/error.hpp>

#include "src/base/in_transaction.hpp"
#include "src/locks/names.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace pawl::locks {

namespace {

using std::chrono::milliseconds;
using Kind = StoreError::Kind;
using Effect = StoreError::Effect;

constexpr std::size_t holder_digits = 32;
// A longer wait would overflow the clock.
constexpr milliseconds wait_max = std::chrono::hours{24} * 365;

void check(std::string_view name, const LeaseOptions& options) {
    check_name("lease", name);
    if (auto why = options.problem()) throw std::invalid_argument{"LeaseOptions: " + *why};
    if (base::in_transaction())
        throw std::logic_error{
            "pawl: the lease '" + std::string{name} +
            "' is acquired within a transaction, which would wait for it: acquire it before, "
            "and call check_fencing_token() within"};
}

}  // namespace

LeaseTable::LeaseTable(
    std::unique_ptr<LeaseBackend> backend, Gives gives, base::Clock& clock, base::Random& random
)
    : backend_{std::move(backend)},
      gives_{gives},
      clock_{clock},
      random_{random},
      renewer_{*backend_, clock} {}

void LeaseTable::check_gives_tokens() {
    if (gives_ == Gives::no_tokens) return;
    if (auto why = backend_->fence_problem())
        throw StoreError{Kind::refused, Effect::none, "lease", std::move(*why)};
}

bool LeaseTable::release(std::string_view name, std::string_view holder) noexcept {
    try {
        backend_->release(name, holder);
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

LeaseTable::Try LeaseTable::acquire(
    std::string_view name, const std::string& holder, const LeaseOptions& options
) {
    const auto asked_at = clock_.steady();
    const auto choice = backend_->acquire(name, holder, options.ttl);
    if (const auto* held = std::get_if<core::LeaseHeld>(&choice)) return {nullptr, held->left};
    try {
        check_gives_tokens();
        if (clock_.steady() >= core::holder_end(asked_at, options.ttl))
            throw StoreError{
                Kind::deadline,
                Effect::none,
                "lease",
                "the lease '" + std::string{name} + "' took longer to acquire than its ttl of " +
                    std::to_string(options.ttl.count()) + " ms"};
    } catch (const StoreError&) {
        release(name, holder);
        throw;
    }
    auto held = std::make_shared<Held>();
    held->name = name;
    held->holder = holder;
    held->epoch = std::get<core::LeaseAcquired>(choice).epoch;
    held->ttl = options.ttl;
    renewer_.keep(held, asked_at);
    return {std::move(held), {}};
}

std::shared_ptr<Held> LeaseTable::try_acquire(std::string_view name, const LeaseOptions& options) {
    check(name, options);
    return acquire(name, base::random_hex(random_, holder_digits), options).held;
}

// Uses one holder for all tries, so that a try with an unknown outcome does not block the next.
std::shared_ptr<Held> LeaseTable::acquire(
    std::string_view name,
    milliseconds wait,
    const LeaseOptions& options,
    const std::stop_token& stop
) {
    check(name, options);
    const auto holder = base::random_hex(random_, holder_digits);
    const auto until = clock_.steady() + std::clamp(wait, 0ms, wait_max);
    for (int polls = 0; !stop.stop_requested(); ++polls) {
        Try tried;
        std::optional<StoreError> failed;
        try {
            tried = acquire(name, holder, options);
        } catch (const StoreError& error) {
            if (!error.transient()) throw;
            failed = error;
            tried.lease_left = options.ttl;
        }
        if (tried.held) return tried.held;
        const auto left = std::chrono::ceil<milliseconds>(until - clock_.steady());
        if (left <= milliseconds{0}) {
            if (failed) throw StoreError{*failed};
            break;
        }
        std::unique_lock lock{waiting_};
        stopped_.wait_for(
            lock,
            stop,
            core::next_poll_in(tried.lease_left, left, polls, random_.dice()),
            [] { return false; }
        );
    }
    return nullptr;
}

bool LeaseTable::release(Held& held) noexcept {
    const auto was_held = renewer_.released(held);
    if (!was_held) return false;
    // The store would wait for this transaction, and the transaction for the store.
    if (base::in_transaction()) return false;
    return release(held.name, held.holder) && *was_held;
}

}  // namespace pawl::locks
