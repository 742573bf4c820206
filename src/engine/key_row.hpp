#pragma once

#include <pawl/detail/session.hpp>
#include <pawl/operation.hpp>
#include <pawl/principal.hpp>
#include <pawl/response.hpp>

#include "src/core/claim.hpp"
#include "src/store/store.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::engine {

// What makes a key one: for Scope::tenant the account is left empty, so that whoever asks meets the
// same key.
struct KeyIdentity {
    std::string tenant;
    std::string account;
    std::string key;
};
KeyIdentity key_identity(Scope scope, const Principal& principal, std::string key);
// 32 hex digits: what the registry's unique index holds.
std::string key_hash(const KeyIdentity& identity);

// A key as it stands in the registry and, unless it expired, in idempotency_keys.
struct KeyRow {
    std::int64_t id{};
    bool expired{};
    std::optional<int> outcome;  // Of an expired key.
    std::optional<std::string> location;

    std::string hash;
    std::string operation;
    std::string fingerprint;
    int secret_version{};
    core::Standing standing{core::Standing::open};
    int attempt{};
    std::optional<TimePoint> lease_until;
    int generation{};
    std::optional<std::string> call_key;
    std::optional<TimePoint> called_at;
    bool calling{};
    std::optional<std::string> call_target;  // Who was called at called_at, if that was named.

    // Empty of a finished key: its answer is all that anybody wants of it.
    Principal principal;  // Who asked first.
    std::string key;
    std::string origin;
    std::string params;
    std::string recovery_point;
    std::string recovery_data;

    // Of a finished key.
    Response response;
    std::optional<TimePoint> expires_at;
};

std::optional<KeyRow> find_key(detail::Session& session, std::string_view hash);
std::optional<KeyRow> find_key(detail::Session& session, std::int64_t id);

// The same outside any transaction; `found` gets it, to move from, or why it could not be looked
// for, and the database's clock.
using OnKeyRow =
    std::function<void(std::exception_ptr failed, std::optional<KeyRow>& found, TimePoint now)>;
void look_for_key(store::Store& store, std::string hash, OnKeyRow found);
void look_for_key(store::Store& store, std::int64_t id, OnKeyRow found);

// The headers of a response that are stored and replayed, as JSON; empty for none.
std::string encode_headers(const std::vector<Header>& headers);
std::vector<Header> decode_headers(std::string_view json);

}  // namespace pawl::engine
