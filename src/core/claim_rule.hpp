#pragma once

#include <pawl/detail/session.hpp>

#include <optional>
#include <string_view>
#include <variant>

// What a request may do with its key. Who was first is decided by the registry's unique index:
// claim_key in src/store/sql/keys.sql. Before that, a duplicate within this process is found by
// src/engine/in_flight_keys.hpp.
namespace pawl::core {

enum class KeyStatus {
    open,       // A request is running, or may be continued.
    attention,  // Only a person can go on.
    finished    // The response is stored.
};

struct KeyFacts {
    bool expired{};  // Only the registry row is left.
    bool same_request{true};
    bool comparable{true};  // False: this server lacks the secret of the key's fingerprint.
    KeyStatus status{KeyStatus::open};
    std::optional<TimePoint> lease_until{};
    bool held{};             // By an operator: an attempt may end, and none begins.
    bool point_known{true};  // False: this binary does not know the recovery point.
};

struct Fresh {};
struct Resume {};
struct Replay {};
struct Busy {};
struct Mismatch {};
struct NotComparable {};  // A server that has the secret can tell.
struct Expired {};
struct ReExecute {};
struct NeedsPerson {};
struct OnHold {};
struct Stranded {};
using Claim = std::variant<
    Fresh,
    Resume,
    Replay,
    Busy,
    Mismatch,
    NotComparable,
    Expired,
    ReExecute,
    NeedsPerson,
    OnHold,
    Stranded>;

// The latest possible end of a lease: a later one was written by a wrong clock and counts as over
// (I16). Twice the length, as connections and nodes read the database's clock some milliseconds
// apart, and a lease just written must not look wrong.
TimePoint lease_bound(TimePoint now, std::chrono::milliseconds lease) noexcept;

bool lease_over(
    std::optional<TimePoint> lease_until, TimePoint now, std::chrono::milliseconds lease
) noexcept;

Claim decide_claim(
    const KeyFacts* found, bool re_execute, TimePoint now, std::chrono::milliseconds lease
) noexcept;

}  // namespace pawl::core
