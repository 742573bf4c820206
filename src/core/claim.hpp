#pragma once

#include <pawl/detail/session.hpp>

#include <optional>
#include <string_view>
#include <variant>

// What a request may do with its key. Who was first is the registry's unique index to say, never
// this.
namespace pawl::core {

enum class Standing {
    open,       // Somebody works on it, or may.
    attention,  // Only a person can go on.
    finished    // The response is stored.
};

struct KeyFacts {
    bool expired{};  // Only the registry row is left.
    bool same_request{true};
    Standing standing{Standing::open};
    std::optional<TimePoint> lease_until{};
    bool point_known{true};  // To this binary.
};

struct Fresh {};
struct Resume {};
struct Replay {};
struct Busy {};
struct Mismatch {};
struct Expired {};
struct ReExecute {};
struct NeedsPerson {};
struct Stranded {};
using Claim =
    std::variant<Fresh, Resume, Replay, Busy, Mismatch, Expired, ReExecute, NeedsPerson, Stranded>;

// Beyond this no lease can last but by a clock that was wrong: such a one counts as over (I16).
// Twice its length, as what two connections or nodes know of the database's clock is some
// milliseconds apart, and the lease just written must not pass for a wrong one.
TimePoint lease_bound(TimePoint now, std::chrono::milliseconds lease) noexcept;

bool lease_over(
    std::optional<TimePoint> lease_until, TimePoint now, std::chrono::milliseconds lease
) noexcept;

Claim decide_claim(
    const KeyFacts* found, bool re_execute, TimePoint now, std::chrono::milliseconds lease
) noexcept;

}  // namespace pawl::core
