#pragma once

#include <pawl/operation.hpp>
#include <pawl/principal.hpp>
#include <pawl/response.hpp>
#include <pawl/tx.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl {

// How far the request under a key has come, for a query of the application's own.
struct KeyProgress {
    enum class State { open, needs_attention, finished, expired };
    std::int64_t key_id{};  // As in Started.
    State state{};
    std::string operation{};           // Not of an expired one, of which only the key is known.
    std::string recovery_point;        // While it is not settled.
    std::optional<Response> answer{};  // finished: what every repeat gets.
    std::optional<int> status{};       // finished and expired.
    std::optional<std::string> location{};  // finished and expired: what it made.
};

// Nothing for a key that is another's, or nobody's, or of an operation of the other scope. The
// stored answer of a Scope::tenant key is for whomever its operation's before_key lets ask; nobody
// asks it here, so the query itself says who may see it. Throws StoreError.
std::optional<KeyProgress> find_key_progress(
    Snapshot& read, const Principal& principal, std::string_view key, Scope scope = Scope::account
);

}  // namespace pawl
