#pragma once

#include <pawl/detail/session.hpp>
#include <pawl/response.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <variant>

namespace pawl::engine {

// The stored answer of a key, now or again.
struct Settled {
    Response response;
    bool replayed{};
    std::optional<TimePoint> expires_at{};
};

// Why there is no stored answer. None of these is final but `key_reused` and `key_expired`.
enum class Why {
    in_progress,
    key_reused,
    key_expired,
    internal,              // A phase threw.
    provider_unavailable,  // The foreign call did nothing, or is in doubt and will be repeated
                           // under its key.
    store_unavailable,
    contention,
    phase_deadline,
    overloaded,
    stranded,  // PAWL0007: the recovery point is unknown to this binary.
    needs_attention,
    stopping
};

struct Refused {
    Why why{};
    std::string detail{};          // For operators; clients get a sentence of the contract.
    std::optional<int> outcome{};  // key_expired: the status it had.
    std::optional<std::string> location{};  // key_expired: what it made.
    std::chrono::seconds retry_after{1};
};

using Answer = std::variant<Settled, Refused>;
using OnAnswer = std::function<void(Answer)>;  // Called once, from any thread; quick.

}  // namespace pawl::engine
