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

// How far the request under a key has come, for an application's own query.
struct KeyProgress {
    enum class State { open, needs_attention, finished, expired };
    std::int64_t key_id{};  // As in Started.
    State state{};
    std::string operation{};     // Empty for an expired key, of which only the key is known.
    std::string recovery_point;  // Empty once the request is finished.
    bool held{};                 // open: an operator stopped it; it goes on after the release.
    std::optional<Response> answer{};       // finished: the answer that every repeat gets.
    std::optional<int> status{};            // finished and expired.
    std::optional<std::string> location{};  // finished and expired: what it created.
};

// nullopt: an unknown key, another principal's, or one for an operation of the other scope. The
// stored response of a Scope::tenant key is only for callers that the operation's before_key()
// admits. find_key_progress() does not call it, so your code must check the caller. Throws
// StoreError.
std::optional<KeyProgress> find_key_progress(
    Snapshot& read, const Principal& principal, std::string_view key, Scope scope = Scope::account
);

}  // namespace pawl
