#pragma once

#include <pawl/detail/session.hpp>
#include <pawl/response.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace pawl::engine {

// The stored answer of a key, new or replayed.
struct StoredResponse {
    Response response;
    bool replayed{};
    std::optional<TimePoint> expires_at{};
};

// Why there is no stored answer. Only `key_reused` and `key_expired` are final.
enum class Reason {
    in_progress,
    key_reused,
    key_expired,
    internal,  // A phase threw.
    // The foreign call did nothing, or is in doubt and will be repeated under its key.
    provider_unavailable,
    not_recorded,  // PAWL0019: the call's result is stored, and its keeper fails at it.
    store_unavailable,
    contention,
    phase_deadline,
    overloaded,
    stranded,  // PAWL0007: the recovery point is unknown to this binary.
    // This server lacks the key's secret (PAWL0024), or calls another provider (PAWL0018).
    other_server,
    needs_attention,
    on_hold,  // An operator holds the key.
    stopping
};

struct Rejection {
    Reason reason{};
    std::string detail{};                   // For operators; clients get a fixed sentence.
    std::optional<int> outcome{};           // key_expired: the status of the expired answer.
    std::optional<std::string> location{};  // key_expired: the created resource.
    std::chrono::seconds retry_after{1};
    std::string_view code{};  // "PAWL0024"; empty: none.
};

// The name of the reason over HTTP, as in docs/http.md: "in-progress".
std::string_view name_of(Reason reason);
// Its status over HTTP, of docs/http.md; that of key_reused is an option of the HTTP server.
int status_of(Reason reason);
// Whether the same request, with the same key, may succeed later without a person.
bool may_succeed_later(Reason reason);

using Answer = std::variant<StoredResponse, Rejection>;
using OnAnswer = std::function<void(Answer)>;  // Called once, from any thread; quick.

}  // namespace pawl::engine
