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
    std::string operation{};           // Empty for an expired key, of which only the key is known.
    std::string recovery_point;        // Empty once the request is finished.
    std::optional<Response> answer{};  // finished: the answer that every repeat gets.
    std::optional<int> status{};       // finished and expired.
    std::optional<std::string> location{};  // finished and expired: what it created.
};

// nullopt: an unknown key, another principal's, or one for an operation of the other scope. The
// stored answer of a Scope::tenant key is only for those whom the operation's before_key() admits;
// it is not called here, so the query itself must check who may see it. Throws StoreError.
std::optional<KeyProgress> find_key_progress(
    Snapshot& read, const Principal& principal, std::string_view key, Scope scope = Scope::account
);

}  // namespace pawl
