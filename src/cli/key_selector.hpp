#pragma once

#include <pawl/service.hpp>

#include "src/cli/output.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace pawl::cli {

// A key by its id, or by the client's key if only one row has it. By both, the id's row must have
// the key.
struct KeySelector {
    std::optional<std::int64_t> id;
    std::optional<std::string> key;
    std::optional<std::string> account;  // Needed if several accounts sent the same key.
    std::optional<std::string> tenant;
};

// What is left of a key that the reaper has removed.
struct ExpiredKey {
    std::int64_t id{};
    std::string status;
    std::optional<int> response_status;
    std::optional<std::string> location;
    std::string expired_at;
    int generation{};
    Json references;
    Json history;
};

std::string name_of(std::int64_t id);  // "key 17".
// The id of the key. Expired keys are searched, too. Throws CommandFailed if no key matches, or
// more than one, or if the id and the key are of two requests.
std::int64_t id_of(Service& service, const KeySelector& which);
// nullopt: no key of this id has expired.
std::optional<Line<ExpiredKey>> expired_key(Service& service, std::int64_t id);
[[noreturn]] void no_such_key(std::int64_t id);

}  // namespace pawl::cli
