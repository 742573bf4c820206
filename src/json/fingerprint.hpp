#pragma once

// The fingerprint that tells requests under one key apart, and the key of a foreign call. Internal.
//
//   auto made = json::fingerprint(secret, {.method = "POST", .route = "/rides/{ride}/tips",
//                                          .path_parameters = {{"ride", "7"}}, .query = head.query,
//                                          .content_type = "application/json", .body = body});
//   if (auto* problem = std::get_if<DecodeProblem>(&made)) ...    // 400 request-invalid
//
// Two requests have the same fingerprint if and only if they mean the same: the order of members,
// white space, 1 for 1.0, the order of query fields and the charset parameter make no difference;
// another value, field or route does. The row stores fingerprint_version with it.

#include <pawl/detail/json_problem.hpp>

#include "src/json/form.hpp"
#include "src/json/hash.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace pawl::json {

inline constexpr int fingerprint_version = 1;

struct FingerprintInput {
    std::string_view method;
    std::string_view route;                 // The pattern, not the path: "/rides/{ride}".
    std::span<const Pair> path_parameters;  // Decoded, in the order of the route.
    std::string_view query;                 // Not decoded, without the `?`.
    std::string_view content_type;          // As sent, with its parameters; may be empty.
    std::string_view body;
    // The canonical form of a JSON body, if it was parsed before; otherwise empty.
    std::string_view canonical_json{};
};

// The parts in their canonical forms, each with its length. A malformed query or body is a problem.
std::variant<std::string, DecodeProblem> fingerprint_text(const FingerprintInput& input);

// HMAC-SHA-256 over that text.
std::variant<Digest, DecodeProblem> fingerprint(
    std::string_view secret, const FingerprintInput& input
);

enum class BodyKind { none, json, form, other };

// Lower case, without parameters and white space: "application/json".
std::string media_type(std::string_view content_type);
// By the media type; application/x+json counts as JSON. An empty body is `none`, whatever its type.
BodyKind body_kind(std::string_view content_type, std::string_view body);

struct CallKeyInput {
    std::string_view installation;
    std::string_view tenant;
    std::string_view account;
    std::string_view client_key;
    std::string_view point;  // Stored name of the point that the call starts from.
    std::uint64_t generation{};
};

// Hex SHA-256 over the parts, each with its length. It contains what the client sent and never a
// row id, so that a row made anew asks for the same charge, and nothing secret or rotating. Never
// change it: keys are in flight.
std::string call_key(const CallKeyInput& input);

}  // namespace pawl::json
