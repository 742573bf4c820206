#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pawl::core {

// Why this text is no idempotency key, in a sentence for the client; nullopt: it is one. 1 to 255
// visible ASCII characters without `" , ; \`, which a header of the draft
// (draft-ietf-httpapi-idempotency-key-header-07) could not carry.
std::optional<std::string> key_problem(std::string_view key);

}  // namespace pawl::core
