#pragma once

#include <pawl/detail/session.hpp>
#include <pawl/operation.hpp>
#include <pawl/principal.hpp>
#include <pawl/response.hpp>

#include "src/core/claim_rule.hpp"
#include "src/store/store.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::engine {

// Identifies a key. For Scope::tenant the account is empty, so that a tenant's accounts share it.
struct KeyIdentity {
    std::string tenant;
    std::string account;
    std::string key;
};
KeyIdentity key_identity(Scope scope, const Principal& principal, std::string key);
// 32 hex digits, unique in the registry.
std::string key_hash(const KeyIdentity& identity);

// A key as stored in the registry and, unless it has expired, in pawl_idempotency_keys.
struct KeyRow {
    std::int64_t id{};
    bool expired{};
    std::optional<int> outcome;  // Of an expired key.
    std::optional<std::string> location;

    std::string hash;
    std::string operation;
    std::string fingerprint;
    int secret_version{};
    core::KeyStatus status{core::KeyStatus::open};
    int attempt{};
    std::optional<TimePoint> lease_until;
    int generation{};
    std::optional<std::string> call_key;
    std::optional<TimePoint> called_at;
    bool calling{};
    // The target of the call at called_at, if it was named.
    std::optional<std::string> call_target;

    // Empty for a finished key, of which only the answer is needed.
    Principal principal;  // Who made the first request.
    std::string key;
    std::string origin;
    std::string params;
    std::string recovery_point;
    std::string recovery_data;

    // Of a finished key.
    Response response;
    std::optional<TimePoint> expires_at;

    bool held{};  // By an operator. False for a finished key.
};

// Returns the id to the first claim of a hash only.
std::optional<std::int64_t> claim_key(detail::Session& session, std::string_view hash);

std::optional<KeyRow> find_key(detail::Session& session, std::string_view hash);
std::optional<KeyRow> find_key(detail::Session& session, std::int64_t id);

// The same outside a transaction. `found` receives the row, which may be moved from, or the error,
// and the database's clock.
using OnKeyRow =
    std::function<void(std::exception_ptr failed, std::optional<KeyRow>& found, TimePoint now)>;
void lookup_key(store::Store& store, std::string hash, OnKeyRow found);
void lookup_key(store::Store& store, std::int64_t id, OnKeyRow found);

// The stored and replayed response headers as JSON; empty: none.
std::string encode_headers(const std::vector<Header>& headers);
std::vector<Header> decode_headers(std::string_view json);

}  // namespace pawl::engine
